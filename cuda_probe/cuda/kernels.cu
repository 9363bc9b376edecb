// The delay: one thread spins on the global timer until `ns` nanoseconds have passed. Bounded, never a flag of the host: a reader
// that does wait for the load must not wait forever. It writes how long it took.
extern "C" __global__ void probe_delay(unsigned long long ns, unsigned long long* took) {
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do {
        __nanosleep(1000);
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - begin < ns);
    if (took) *took = now - begin;
}
