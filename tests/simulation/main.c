/* simulation --seeds A..B: one run a seed, each in a process of its own. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "processor/base/memory.h"
#include "processor/base/str.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/world.h"

#include "processor/base/banned.h"

enum { JOBS_MAX = 64, REAL_TIME_MAX_S = 120, MANY_RUNS = 200 };

typedef struct Options {
    int64_t first;
    int64_t last;
    int64_t jobs;
    bool trace;
    bool twice;         /* each seed must do the same again */
    bool hashes;        /* print them */
    bool first_failure; /* is enough */
} Options;

/* What a run tells its parent. */
typedef struct Report {
    uint64_t hash;
    WorldResult result;
} Report;

typedef struct Job {
    pid_t pid; /* 0: none */
    int64_t seed;
    bool again; /* the second run of the seed */
    uint64_t first_hash;
    int pipe;
} Job;

static const char usage[] =
    "usage: simulation --seeds A..B [--jobs N] [--trace] [--twice] [--hashes] [--until-failure]\n"
    "  one run a seed; --trace: tell everything; --twice: each seed must do the same again\n";

static bool parse_seeds(const char *text, Options *options)
{
    Str rest = str_from(text);
    Str first = str_cut(&rest, '.');
    if (!str_to_int64(first, &options->first)) {
        return false;
    }
    options->last = options->first;
    return rest.data == NULL || (rest.size > 1 && rest.data[0] == '.' &&
                                 str_to_int64((Str){rest.data + 1, rest.size - 1}, &options->last));
}

static bool parse(int argc, char **argv, Options *options)
{
    *options = (Options){.first = -1, .jobs = sysconf(_SC_NPROCESSORS_ONLN)};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--seeds") == 0 && parse_seeds(value, options)) {
            i++;
        } else if (strcmp(argv[i], "--jobs") == 0 &&
                   str_to_int64(str_from(value), &options->jobs)) {
            i++;
        } else if (strcmp(argv[i], "--trace") == 0) {
            options->trace = true;
        } else if (strcmp(argv[i], "--twice") == 0) {
            options->twice = true;
        } else if (strcmp(argv[i], "--until-failure") == 0) {
            options->first_failure = true;
        } else if (strcmp(argv[i], "--hashes") == 0) {
            options->hashes = true;
        } else {
            return false;
        }
    }
    return options->first >= 0 && options->last >= options->first && options->jobs > 0 &&
           options->jobs <= JOBS_MAX;
}

/* ------------------------------------------------------------------------------ one run ---- */

static void die_loudly(int number)
{
    static volatile sig_atomic_t dying;
    if (dying == 0) {
        dying = 1;
        trace_print_tail();
        (void)fprintf(stderr, "simulation: %s\n",
                      number == SIGALRM ? "no end in real time" : strsignal(number));
    }
    (void)signal(number, SIG_DFL);
    (void)raise(number == SIGALRM ? SIGKILL : number);
}

static void catch_signals(void)
{
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
    static char stack[65536];
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    (void)sigaltstack(&alternative, NULL);
    struct sigaction action = {.sa_handler = die_loudly, .sa_flags = SA_ONSTACK};
    for (size_t i = 0; i < ARRAY_LENGTH(signals); i++) {
        (void)sigaction(signals[i], &action, NULL);
    }
    (void)alarm(REAL_TIME_MAX_S);
}

/* In a directory of its own; the parent removes it. */
static void run_seed(int64_t seed, bool trace, int out)
{
    catch_signals();
    trace_open(trace);
    Report report = {0};
    bool good = world_run((uint64_t)seed, &report.result);
    report.hash = trace_hash();
    if (!good) {
        trace_print_tail();
    }
    (void)!write(out, &report, sizeof report);
    (void)fflush(stderr);
    _exit(good ? 0 : 1);
}

static void run_dir(const Job *job, char dir[128])
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir;
    (void)snprintf(dir, 128, "%s/tidemark-simulation-%d-%lld", base, (int)getpid(),
                   (long long)job->seed);
}

static void start(Job *job, const Options *options)
{
    int pipes[2];
    char dir[128];
    run_dir(job, dir);
    if (mkdir(dir, 0777) != 0 || pipe(pipes) != 0) {
        (void)fprintf(stderr, "simulation: %s: %s\n", dir, strerror(errno));
        exit(2);
    }
    (void)fflush(NULL);
    job->pid = fork();
    if (job->pid == 0) {
        (void)close(pipes[0]);
        if (chdir(dir) != 0) {
            _exit(2);
        }
        run_seed(job->seed, options->trace && !job->again, pipes[1]);
    }
    (void)close(pipes[1]);
    job->pipe = pipes[0];
}

static void remove_dir(const char *dir)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)execlp("rm", "rm", "-rf", dir, (char *)NULL);
        _exit(1);
    }
    (void)waitpid(pid, NULL, 0);
}

/* ------------------------------------------------------------------------------ all runs ---- */

typedef struct Sums {
    int64_t runs;
    int64_t failed;
    WorldResult result;
} Sums;

static void add_result(WorldResult *sum, const WorldResult *one)
{
#define X(name) sum->name += one->name;
    WORLD_COUNTS(X)
#undef X
}

/* True: the job is to run its seed again. */
static bool finish(Job *job, const Options *options, Sums *sums, int status)
{
    Report report = {0};
    bool told = read(job->pipe, &report, sizeof report) == sizeof report;
    (void)close(job->pipe);
    char dir[128];
    run_dir(job, dir);
    remove_dir(dir);
    job->pid = 0;
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0 && told;
    if (good && job->again && report.hash != job->first_hash) {
        (void)fprintf(stderr, "seed %lld: two runs differ\n", (long long)job->seed);
        good = false;
    }
    if (!good) {
        sums->failed++;
        (void)fprintf(stderr,
                      "seed %lld FAILED; again: scripts/dev simulate --seeds %lld..%lld --trace\n",
                      (long long)job->seed, (long long)job->seed, (long long)job->seed);
    }
    if (options->hashes && told) {
        printf("%lld %016llx\n", (long long)job->seed, (unsigned long long)report.hash);
    }
    sums->runs += !job->again;
    add_result(&sums->result, &report.result);
    job->first_hash = report.hash;
    return good && options->twice && !job->again;
}

static void run_all(const Options *options, Sums *sums)
{
    Job jobs[JOBS_MAX] = {0};
    int64_t next = options->first;
    int64_t running = 0;
    while (next <= options->last || running > 0) {
        bool enough = options->first_failure && sums->failed > 0;
        next = enough ? options->last + 1 : next;
        for (int64_t i = 0; i < options->jobs && next <= options->last; i++) {
            if (jobs[i].pid == 0) {
                jobs[i] = (Job){.seed = next++};
                start(&jobs[i], options);
                running++;
            }
        }
        int status = 0;
        pid_t pid = wait(&status);
        for (int64_t i = 0; i < options->jobs; i++) {
            if (jobs[i].pid != pid || pid <= 0) {
                continue;
            }
            if (finish(&jobs[i], options, sums, status)) {
                jobs[i].again = true;
                start(&jobs[i], options);
            } else {
                running--;
            }
        }
    }
}

/* In many runs everything must have happened: else the simulation lost its hold on something. */
static bool all_happened(const Sums *sums)
{
    bool all = true;
#define X(name)                                                                                    \
    if (sums->runs >= MANY_RUNS && sums->result.name == 0) {                                       \
        (void)fprintf(stderr, "in no run was there any of: %s\n", #name);                          \
        all = false;                                                                               \
    }
    WORLD_COUNTS(X)
#undef X
    return all;
}

int main(int argc, char **argv)
{
    Options options;
    if (!parse(argc, argv, &options)) {
        (void)fputs(usage, stderr);
        return 2;
    }
    Sums sums = {0};
    run_all(&options, &sums);
#define X(name) printf("  %-16s %llu\n", #name, (unsigned long long)sums.result.name);
    WORLD_COUNTS(X)
#undef X
    printf("%lld seeds, %lld failed\n", (long long)sums.runs, (long long)sums.failed);
    return sums.failed == 0 && all_happened(&sums) ? 0 : 1;
}
