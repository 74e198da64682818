/* Lines that the help of several commands has. */
#ifndef L2K_CLI_OPTIONS_HELP_PARTS_H
#define L2K_CLI_OPTIONS_HELP_PARTS_H

#define CLI_HELP_LIMITS                                                                                                \
    "      --max-pixels N        refuse pictures of more pixels; K, M and G behind N are 10^3, 10^6 and 10^9\n"        \
    "      --max-memory BYTES    refuse what takes more memory, samples included; also with K, M, G\n"                 \
    "      --timeout SECONDS     stop reading or coding a file that takes longer\n"

#define CLI_HELP_THREADS "  -j, --threads N           threads, 0 = all processors (0)\n"

#define CLI_HELP_PROGRESS                                                                                              \
    "      --progress            show how far it is, as without this option only on a terminal\n"                      \
    "      --no-progress         do not show it\n"

#define CLI_HELP_END                                                                                                   \
    "      --quiet               errors only\n"                                                                        \
    "  -h, --help                this text\n"

#endif
