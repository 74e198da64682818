# Completion of lift2k for bash. Commands and options are read from the help of the command that is completed, so that this
# file need not know them; only the values of some options are listed here.

# The commands of `lift2k --help`, or the options of `lift2k COMMAND --help`: what its lines begin with.
_lift2k_commands()
{
    "$1" --help 2>/dev/null | sed -n 's/^ *lift2k \([a-z0-9-]\{1,\}\).*/\1/p' | sort -u
}

_lift2k_options()
{
    "$1" "$2" --help 2>/dev/null | sed -n 's/^ \{1,\}\(-.*\)/\1/p' | sed 's/  .*//' | grep -oE -- '(^|[ ,])--?[A-Za-z0-9-]+' |
        tr -d ' ,'
}

_lift2k_values() # of the option $1; status 1 where any text will do
{
    case $1 in
    --backend) echo auto cpu cuda ;;
    -p | --progression) echo LRCP RLCP RPCL PCRL CPRL ;;
    --style) echo bypass reset termall vsc pterm segsym ;;
    --tile-parts) echo R L C ;;
    --tiff-compression) echo none deflate lzw ;;
    --ext) if [ "${COMP_WORDS[1]}" = decode ]; then echo png tif pgm ppm pnm pam pgx raw; else echo jp2 j2k j2c jpc; fi ;;
    --format) echo pgx raw ;;
    *) return 1 ;;
    esac
}

_lift2k()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} values
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        values="$(_lift2k_commands "${COMP_WORDS[0]}") --help --version"
    elif values=$(_lift2k_values "$before"); then
        :
    elif [[ $word == -* ]]; then
        values=$(_lift2k_options "${COMP_WORDS[0]}" "${COMP_WORDS[1]}")
    else
        return # file names, which -o default completes
    fi
    COMPREPLY=($(compgen -W "$values" -- "$word"))
}

complete -o default -F _lift2k lift2k
