/* process_*: CPU, memory, descriptors, threads, start. */
#include "processor/run/metrics_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "processor/base/banned.h"

enum { PROC_TEXT_MAX = 4096, US = 1000000 };

/* A small file of /proc whole, NUL-terminated; false: it cannot be read. */
static bool read_proc(const char *path, char text[PROC_TEXT_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t size = read(fd, text, PROC_TEXT_MAX - 1);
    (void)close(fd);
    if (size <= 0) {
        return false;
    }
    text[size] = '\0';
    return true;
}

/* What follows "name" at the beginning of a line, as a number. */
static bool find_number(const char *text, const char *name, uint64_t *ret_number)
{
    const char *at = strstr(text, name);
    if (at == NULL || (at != text && at[-1] != '\n')) {
        return false;
    }
    *ret_number = strtoull(at + strlen(name), NULL, 10);
    return true;
}

static int64_t time_us(struct timeval time)
{
    return (int64_t)time.tv_sec * US + (int64_t)time.tv_usec;
}

static void write_cpu(MetricsText *text)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        metrics_text_family(text, "process_cpu_seconds_total", "counter",
                            "CPU time used, user and system.");
        metrics_text_seconds(text, "", NULL, 0, time_us(usage.ru_utime) + time_us(usage.ru_stime));
    }
}

static void write_memory(MetricsText *text)
{
    char status[PROC_TEXT_MAX];
    uint64_t number = 0;
    if (!read_proc("/proc/self/statm", status)) {
        return;
    }
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    char *end = NULL;
    number = strtoull(status, &end, 10);
    metrics_text_family(text, "process_virtual_memory_bytes", "gauge", "Virtual memory.");
    metrics_text_sample(text, "", NULL, 0, number * page);
    number = strtoull(end, NULL, 10);
    metrics_text_family(text, "process_resident_memory_bytes", "gauge", "Resident memory.");
    metrics_text_sample(text, "", NULL, 0, number * page);
    if (read_proc("/proc/self/status", status) && find_number(status, "Threads:", &number)) {
        metrics_text_family(text, "process_threads", "gauge", "Threads.");
        metrics_text_sample(text, "", NULL, 0, number);
    }
}

static void write_descriptors(MetricsText *text)
{
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) {
        return;
    }
    uint64_t count = 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(folder);
    metrics_text_family(text, "process_open_fds", "gauge", "Open file descriptors.");
    metrics_text_sample(text, "", NULL, 0, count - 1); /* without the one that looked */
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        metrics_text_family(text, "process_max_fds", "gauge",
                            "File descriptors the process may have.");
        metrics_text_sample(text, "", NULL, 0, (uint64_t)limit.rlim_cur);
    }
}

/* /proc/self/stat counts in clock ticks since boot, field 22; the command in parentheses may hold
 * spaces, so fields are counted behind the last ')'. */
static void write_start(MetricsText *text)
{
    enum { FIELDS_BEFORE = 20 };
    char stat[PROC_TEXT_MAX];
    char boot[64 * 1024];
    uint64_t boot_s = 0;
    int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    for (ssize_t n = 1; fd >= 0 && n > 0 && size < sizeof boot - 1; size += (size_t)n) {
        n = read(fd, boot + size, sizeof boot - 1 - size);
        if (n <= 0) {
            break;
        }
    }
    boot[size] = '\0';
    if (fd >= 0) {
        (void)close(fd);
    }
    const char *line = strstr(boot, "\nbtime ");
    if (line == NULL || !read_proc("/proc/self/stat", stat)) {
        return;
    }
    boot_s = strtoull(line + 7, NULL, 10);
    const char *at = strrchr(stat, ')');
    for (int i = 0; i < FIELDS_BEFORE && at != NULL; i++) {
        at = strchr(at + 1, ' ');
    }
    if (at != NULL) {
        uint64_t ticks = strtoull(at, NULL, 10);
        int64_t since_boot_us = (int64_t)(ticks * US / (uint64_t)sysconf(_SC_CLK_TCK));
        metrics_text_family(text, "process_start_time_seconds", "gauge",
                            "Start of the process, seconds since 1970.");
        metrics_text_seconds(text, "", NULL, 0, (int64_t)boot_s * US + since_boot_us);
    }
}

void metrics_process_write(MetricsText *text)
{
    write_cpu(text);
    write_memory(text);
    write_descriptors(text);
    write_start(text);
}
