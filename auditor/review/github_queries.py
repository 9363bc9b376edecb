"""GraphQL documents: what REST does not tell (who wrote a comment, whether it is outdated) or cannot do (minimise)."""

from __future__ import annotations

THREADS = """
query Threads($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 50, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id isOutdated isResolved viewerCanResolve viewerCanUnresolve
          comments(first: 1) {
            nodes { id fullDatabaseId body viewerDidAuthor isMinimized viewerCanMinimize }
          }
        }
      }
    }
  }
}
"""

COMMENTS = """
query Comments($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      comments(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { fullDatabaseId body viewerDidAuthor }
      }
    }
  }
}
"""

HIDE = """
mutation Hide($id: ID!, $classifier: ReportedContentClassifiers!) {
  minimizeComment(input: {subjectId: $id, classifier: $classifier}) { minimizedComment { isMinimized } }
}
"""

SHOW = """
mutation Show($id: ID!) {
  unminimizeComment(input: {subjectId: $id}) { unminimizedComment { isMinimized } }
}
"""

RESOLVE = """
mutation Resolve($id: ID!) {
  resolveReviewThread(input: {threadId: $id}) { thread { isResolved } }
}
"""

REOPEN = """
mutation Reopen($id: ID!) {
  unresolveReviewThread(input: {threadId: $id}) { thread { isResolved } }
}
"""

DOCUMENTS = (THREADS, COMMENTS, HIDE, SHOW, RESOLVE, REOPEN)
"""All of them; tests validate each against GitHub's schema."""
