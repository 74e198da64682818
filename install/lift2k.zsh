#compdef lift2k
# Completion of lift2k for zsh, like the one for bash: commands and options are read from the help.

_lift2k_commands()
{
    $1 --help 2>/dev/null | sed -n 's/^ *lift2k \([a-z0-9-]\{1,\}\).*/\1/p' | sort -u
}

_lift2k_options()
{
    $1 $2 --help 2>/dev/null | sed -n 's/^ \{1,\}\(-.*\)/\1/p' | sed 's/  .*//' | grep -oE -- '(^|[ ,])--?[A-Za-z0-9-]+' |
        tr -d ' ,'
}

_lift2k()
{
    if (( CURRENT == 2 )); then
        compadd -- $(_lift2k_commands $words[1]) --help --version
        return
    fi
    case $words[CURRENT-1] in
    --backend) compadd -- auto cpu cuda ;;
    -p | --progression) compadd -- LRCP RLCP RPCL PCRL CPRL ;;
    --style) compadd -- bypass reset termall vsc pterm segsym ;;
    --tile-parts) compadd -- R L C ;;
    --tiff-compression) compadd -- none deflate lzw ;;
    --ext) if [[ $words[2] == decode ]]; then compadd -- png tif pgm ppm pnm pam pgx raw; else compadd -- jp2 j2k j2c jpc; fi ;;
    --format) compadd -- pgx raw ;;
    *)
        if [[ $words[CURRENT] == -* ]]; then
            compadd -- $(_lift2k_options $words[1] $words[2])
        else
            _files
        fi
        ;;
    esac
}

if [[ $funcstack[1] == _lift2k ]]; then
    _lift2k "$@"
fi
