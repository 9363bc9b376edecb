"""The command line: it translates arguments to values and values to exit statuses, and does nothing else.

Every heavy import happens inside the verb that needs it: ``bufgate --help`` loads neither parser nor graph library.
stdout carries the report and nothing else; progress, remarks and errors go to stderr. The one ``except Exception``
of the whole program is here, in ``failures``.
"""
