/* Preloaded, this makes a computer pretend to have eight cores. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define CORES 8

int get_nprocs(void) { return CORES; }

int get_nprocs_conf(void) { return CORES; }

long sysconf(int name) {
    static long (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "sysconf");
    if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) return CORES;
    return real(name);
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
    memset(set, 0, size);
    for (int core = 0; core < CORES; core++) CPU_SET_S(core, size, set);
    return 0;
}
