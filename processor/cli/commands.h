/* The commands of the program, one file each (cmd_*.c). argv[0] is the command's name. Each returns
 * the exit code: 0 done, 1 failed, 2 wrong usage or topology. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

int cmd_run(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_refresh(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_state(int argc, char **argv);
int cmd_test(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_functions(int argc, char **argv);
/* Commands of DESIGN section 9 that are not built yet: say so. */
int cmd_not_yet(int argc, char **argv);

#endif
