# Fills a manual page with rows of tables that the guides have, so that they are written once.
#
#   awk -v docs=DIR -f fill.awk PAGE.scd > FILLED.scd
#
# A line  @rows FILE | SECTION | TERM | TEXT@  becomes a definition list: an entry for each row of the
# tables in that section of docs/FILE, with $1, $2, ... being the row's cells. In TERM and TEXT a part
# in braces is left out where one of its cells is empty or a dash. Markdown becomes scdoc. A section
# "*" is every section that has a table, each under its title. Columns headed "test" are empty.

function fail(text) {
    printf "%s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"
    failed = 1
    exit 1
}

# Escapes what scdoc would take for markup.
function plain(text) {
    gsub(/[\\*_<[`]/, "\\\\&", text)
    return text
}

function scdoc(text,   out, part, n, parts, i) {
    while (match(text, /\[[^\]]*\]\([^)]*\)/)) { # a link: its text
        part = substr(text, RSTART + 1, RLENGTH - 1)
        sub(/\]\([^)]*\)$/, "", part)
        text = substr(text, 1, RSTART - 1) part substr(text, RSTART + RLENGTH)
    }
    gsub(/&nbsp;/, " ", text)
    out = ""
    n = split(text, parts, "`")
    for (i = 1; i <= n; i++) {
        if (i % 2) # not code: emphasis is dropped
            gsub(/\*/, "", parts[i])
        out = out (i % 2 ? plain(parts[i]) : parts[i] == "" ? "" : "*" plain(parts[i]) "*")
    }
    gsub(/\*\*/, "", out)
    return out
}

# The cells of a row, in cell[1..]; \| is not the end of one.
function split_row(line,   n, i) {
    gsub(/\\\|/, "\001", line)
    sub(/^\|[ ]*/, "", line)
    sub(/[ ]*\|[ ]*$/, "", line)
    n = split(line, cell, / *\| */)
    for (i = 1; i <= n; i++) {
        gsub(/\001/, "|", cell[i])
        cell[i] = cell[i] ~ /^[-–]?$/ ? "" : scdoc(cell[i])
    }
    return n
}

function put(pattern, n,   out, at, name, part, empty) {
    out = ""
    while (match(pattern, /\{[^}]*\}|\$[0-9]/)) {
        out = out substr(pattern, 1, RSTART - 1)
        part = substr(pattern, RSTART, RLENGTH)
        pattern = substr(pattern, RSTART + RLENGTH)
        if (part ~ /^\$/) {
            out = out cell[substr(part, 2)]
            continue
        }
        part = substr(part, 2, length(part) - 2)
        empty = 0
        name = part
        while (match(name, /\$[0-9]/)) {
            if (cell[substr(name, RSTART + 1, 1)] == "")
                empty = 1
            name = substr(name, RSTART + 2)
        }
        if (!empty)
            out = out put(part, n)
    }
    return out pattern
}

function rows(directive,   word, file, line, title, inside, named, row, count, n, i, tests) {
    sub(/^@rows /, "", directive)
    sub(/@$/, "", directive)
    if (split(directive, word, / \| /) != 4)
        fail("not '@rows FILE | SECTION | TERM | TEXT@'")
    file = docs "/" word[1]
    while ((getline line < file) > 0) {
        if (line ~ /^#+ /) {
            title = line
            sub(/^#+ /, "", title)
            inside = word[2] == "*" || title == word[2]
            named = word[2] != "*"
        }
        row = inside && line ~ /^\|/ ? row + 1 : 0
        if (row == 0 || row == 2) # no table, or the line under its head
            continue
        n = split_row(line)
        if (row == 1) {
            delete tests
            for (i = 1; i <= n; i++)
                tests[i] = cell[i] == "test"
            continue
        }
        for (i = 1; i <= n; i++)
            if (tests[i])
                cell[i] = ""
        if (!named)
            printf "# %s\n\n", toupper(title)
        named = 1
        printf "%s\n\t%s\n\n", put(word[3], n), put(word[4], n)
        count++
    }
    close(file)
    if (!count)
        fail("no table under '" word[2] "' in " file)
}

/^@rows .*@$/ { rows($0); next }
/^@/ { fail("not understood: " $0) }
{ print }
