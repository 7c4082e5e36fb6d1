# The runner of R: executes cells in the global environment and tells results, errors and the end on a private descriptor.
# Evaluated in an environment of its own that holds FD (that descriptor, a socket: the only kind that R can speak to by its
# number) and copies of base's functions: what cells define or replace does not reach it. What it cannot say any more ends
# it, and then the interpreter is reported dead.
TEXT_MAX <- 1048576L
TABLE_MAX <- 8388608
HTML_ROWS <- 60L

say_socket <- utils:::C_sockwrite
hear_socket <- utils:::C_sockread
print_s4 <- methods::show
png_device <- grDevices::png
pdf_device <- grDevices::pdf
close_device <- grDevices::dev.off
select_device <- grDevices::dev.set
current_device <- grDevices::dev.cur
head_of <- utils::head
size_of <- utils::object.size

# Cells are UTF-8, whatever the sandbox's variables say.
if (!isTRUE(l10n_info()[["UTF-8"]])) Sys.setlocale("LC_CTYPE", "C.UTF-8")

self <- environment()
count <- 0L
mark <- ""
pending <- raw()
changes <- character()
drawings <- ""
drawn <- 0L
warned <- list()
found <- NULL

# ---- words for the host

# The bytes of a text in UTF-8, as a text that is sent as it stands, whatever the locale is.
plain_bytes <- function(text) {
  text <- iconv(enc2utf8(text), "UTF-8", "UTF-8", sub = "byte")
  Encoding(text) <- "unknown"
  text
}
size <- function(text) nchar(text, "bytes")
field <- function(text) paste0(size(text), "\n", text)
message_of <- function(kind, payload) paste0(kind, " ", size(payload), " ", mark, "\n", payload)
# A socket that blocks takes all of it or none.
send <- function(text) {
  if (.Call(say_socket, FD, text) != size(text)) quit("no", 1L, FALSE)
}

fill <- function(room) {
  text <- .Call(hear_socket, FD, room)
  if (!nzchar(text)) quit("no", 0L, FALSE)
  charToRaw(text)
}
receive <- function() {
  while (is.na(line <- match(as.raw(10L), pending))) pending <<- c(pending, fill(65536L))
  wanted <- as.integer(rawToChar(pending[3L:(line - 1L)]))
  kind <- rawToChar(pending[1L])
  parts <- list(pending[-seq_len(line)])
  held <- length(parts[[1L]])
  while (held < wanted) {
    part <- fill(max(65536L, wanted - held))
    parts[[length(parts) + 1L]] <- part
    held <- held + length(part)
  }
  whole <- unlist(parts)
  pending <<- whole[-seq_len(wanted)]
  if (wanted == 0L) pending <<- if (is.null(whole)) raw() else whole
  text <- if (wanted == 0L) "" else rawToChar(whole[seq_len(wanted)])
  Encoding(text) <- "UTF-8"
  list(kind, text)
}

# ---- results

cut_text <- function(text) if (nchar(text, "bytes") > TEXT_MAX) paste0(substr(text, 1L, TEXT_MAX %/% 4L), "...") else text

# Where R's own top level prints: methods of the user's are found, a `print` of the user's is not.
print_value <- function(value) {
  scope <- new.env(parent = globalenv())
  assign("x", value, envir = scope)
  eval(as.call(list(if (isS4(value)) print_s4 else print, quote(x))), scope)
}
printed <- function(value) {
  target <- rawConnection(raw(), "w")
  depth <- sink.number()
  sink(target)
  on.exit({
    while (sink.number() > depth) sink()
    close(target)
  })
  print_value(value)
  text <- rawToChar(rawConnectionValue(target))
  Encoding(text) <- "UTF-8"
  sub("\n$", "", text)
}

letters64 <- charToRaw("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
base64 <- function(data) {
  missing <- -length(data) %% 3L
  m <- matrix(as.integer(c(data, raw(missing))), nrow = 3L)
  text <- letters64[1L + rbind(m[1L, ] %/% 4L, m[1L, ] %% 4L * 16L + m[2L, ] %/% 16L,
                               m[2L, ] %% 16L * 4L + m[3L, ] %/% 64L, m[3L, ] %% 64L)]
  if (missing > 0L) text[length(text) + 1L - seq_len(missing)] <- charToRaw("=")
  rawToChar(text)
}

quoted <- function(text) {
  text <- gsub("\\", "\\\\", enc2utf8(text), fixed = TRUE)
  text <- gsub("\"", "\\\"", text, fixed = TRUE)
  for (code in 1:31) {
    one <- rawToChar(as.raw(code))
    text <- gsub(one, sprintf("\\u%04x", code), text, fixed = TRUE)
  }
  paste0("\"", text, "\"")
}
# One column of a table, as JSON can say it.
column <- function(values) {
  if (inherits(values, "POSIXt")) values <- format(values, "%Y-%m-%dT%H:%M:%S")
  else if (is.object(values) || !is.atomic(values)) values <- as.character(values)
  lacks <- is.na(values)
  if (is.logical(values)) text <- ifelse(values, "true", "false")
  else if (is.numeric(values)) {
    text <- formatC(values, digits = 15L, width = 1L, format = "g")
    lacks <- lacks | !is.finite(values)
  } else text <- quoted(as.character(values))
  text[lacks] <- "null"
  paste0("[", paste(text, collapse = ", "), "]")
}
table_data <- function(frame) {
  paste0("{", paste(vapply(seq_along(frame), function(i) paste0(quoted(names(frame)[i]), ": ", column(frame[[i]])), ""),
                    collapse = ", "), "}")
}
escaped <- function(text) {
  text <- gsub("&", "&amp;", enc2utf8(text), fixed = TRUE)
  gsub(">", "&gt;", gsub("<", "&lt;", text, fixed = TRUE), fixed = TRUE)
}
table_html <- function(frame) {
  top <- head_of(frame, HTML_ROWS)
  cells <- lapply(seq_along(top), function(i) escaped(format(top[[i]])))
  rows <- if (nrow(top) == 0L) "" else
    do.call(paste0, c(list("<tr><th>", escaped(rownames(top)), "</th>"), lapply(cells, function(one) paste0("<td>", one, "</td>")), "</tr>\n"))
  more <- if (nrow(frame) > HTML_ROWS) paste0("<p>", nrow(frame), " rows</p>\n") else ""
  paste0("<table>\n<thead><tr><th></th>", paste0("<th>", escaped(names(frame)), "</th>", collapse = ""),
         "</tr></thead>\n<tbody>\n", paste(rows, collapse = ""), "</tbody>\n</table>\n", more)
}

# Representations by MIME type, the printed one first.
bundle <- function(value) {
  data <- list("text/plain" = cut_text(printed(value)))
  if (is.data.frame(value) && size_of(value) < TABLE_MAX) {
    data[["text/html"]] <- tryCatch(table_html(value), error = function(e) NULL)
    data[["e2b/data"]] <- tryCatch(table_data(value), error = function(e) NULL)
  }
  data
}
result_of <- function(data, is_main) {
  payload <- if (is_main) "1" else "0"
  for (mime in names(data)) payload <- paste0(payload, field(mime), field(plain_bytes(data[[mime]])))
  message_of("R", payload)
}
display <- function(value, mime = NULL) {
  data <- if (is.null(mime)) bundle(value) else structure(list("", value), names = c("text/plain", mime))
  if (is.raw(value) && !is.null(mime)) data[[mime]] <- base64(value)
  if (!is.null(mime)) data[["text/plain"]] <- NULL
  suspendInterrupts(send(result_of(data, FALSE)))
  invisible(NULL)
}

# ---- drawings

# What R opens when somebody draws and no device is open. Each page becomes a file; the cell's end shows them.
open_device <- function(...) {
  if (!dir.exists(drawings)) {
    assign("drawings", tempfile("drawings"), envir = self)
    dir.create(drawings)
  }
  assign("drawn", drawn + 1L, envir = self)
  width <- getOption("repr.plot.width", 7)
  height <- getOption("repr.plot.height", 7)
  path <- file.path(drawings, sprintf("%06d-%%04d", drawn))
  if (capabilities("cairo"))
    png_device(paste0(path, ".png"), width, height, "in", res = getOption("repr.plot.res", 120), type = "cairo")
  else
    pdf_device(paste0(path, ".pdf"), width, height, onefile = FALSE)
}
# The pages that are finished, in their order, and none of them kept.
take_drawings <- function() {
  if (!nzchar(drawings)) return(list())
  current <- current_device()
  for (number in seq_along(.Devices)) {
    path <- attr(.Devices[[number]], "filepath")
    if (number > 1L && !is.null(path) && startsWith(path, drawings)) close_device(number)
  }
  if (current > 1L && current <= length(.Devices) && .Devices[[current]] != "") select_device(current)
  pages <- list()
  for (path in sort(list.files(drawings, full.names = TRUE))) {
    data <- readBin(path, "raw", file.size(path))
    mime <- if (endsWith(path, ".png")) "image/png" else "application/pdf"
    if (length(data) > 0L) pages[[length(pages) + 1L]] <- structure(list(base64(data)), names = mime)
    unlink(path)
  }
  pages
}

# ---- errors and warnings

is_own <- function(call, found) any(vapply(found$calls[seq_len(found$from)], identical, NA, call))
# The calls of the cell: those below the one that runs it, up to where R began to tell what happened.
cell_calls <- function() {
  all <- sys.calls()
  from <- 0L
  to <- length(all)
  for (i in seq_along(all)) {
    callee <- sys.function(i)
    if (identical(callee, run_expression)) from <- i + 2L
    else if (identical(callee, on_error) || identical(callee, on_warning)) to <- min(to, i - 1L)
  }
  list(from = from, to = to, calls = all)
}
nowhere <- list(from = 0L, to = 0L, calls = list())
telling <- lapply(c(".handleSimpleError", ".signalSimpleWarning", "doWithOneRestart"), as.name)
users_calls <- function(found) {
  if (found$from == 0L || found$to <= found$from) return(list())
  here <- found$calls[(found$from + 1L):found$to]
  told <- vapply(here, function(call) any(vapply(telling, identical, NA, call[[1L]])), NA)
  if (any(told)) here[seq_len(which(told)[1L] - 1L)] else here
}
first_line <- function(call) {
  lines <- deparse(call, width.cutoff = 120L, nlines = 2L)
  if (length(lines) > 1L) paste(lines[1L], "...") else lines
}
call_of <- function(problem, found) {
  call <- conditionCall(problem)
  if (is.null(call) || found$from == 0L || is_own(call, found)) NULL else call
}
error_of <- function(problem, found, name = class(problem)[1L]) {
  value <- tryCatch(paste(conditionMessage(problem), collapse = "\n"), error = function(e) "<the error cannot be shown>")
  call <- call_of(problem, found)
  text <- paste0(if (is.null(call)) "Error: " else paste0("Error in ", first_line(call), " : "), value)
  stack <- users_calls(found)
  if (length(stack) > 100L) stack <- c(stack[1:50], list(quote(...)), stack[length(stack) - 49:0])
  if (length(stack) > 0L)
    text <- paste0(text, "\nTraceback:\n", paste0(seq_along(stack), ". ", vapply(stack, first_line, ""), collapse = "\n"))
  message_of("F", paste0(field(plain_bytes(name)), field(plain_bytes(cut_text(value))), field(plain_bytes(cut_text(text)))))
}
interrupted <- function()
  message_of("F", paste0(field("KeyboardInterrupt"), field(""), field("KeyboardInterrupt")))

on_error <- function(e) assign("found", cell_calls(), envir = self)

# As R's top level does: warnings of an expression are told after it, unless options(warn) says otherwise.
on_warning <- function(condition) {
  level <- getOption("warn")
  if (!is.numeric(level) || level != 0 || length(warned) >= 50L) return()
  call <- call_of(condition, cell_calls())
  assign("warned", c(warned, structure(list(call), names = conditionMessage(condition))), envir = self)
  tryInvokeRestart("muffleWarning")
}
tell_warnings <- function() {
  if (length(warned) == 0L) return()
  told <- structure(warned, class = "warnings")
  assign("warned", list(), envir = self)
  cat(printed(told), "\n", sep = "", file = stderr())
}

# ---- cells

run_expression <- function(expression) eval(expression, globalenv())

# What the cell has to say at its end.
run_cell <- function(code) {
  source <- srcfilecopy(sprintf("<cell %d>", count), strsplit(code, "\n", fixed = TRUE)[[1L]])
  parsed <- tryCatch(parse(text = code, keep.source = TRUE, srcfile = source, encoding = "UTF-8"), error = identity)
  if (inherits(parsed, "error")) return(list(1L, error_of(parsed, nowhere, "parseError")))
  data <- NULL
  for (at in seq_along(parsed)) {
    shown <- allowInterrupts(withVisible(run_expression(parsed[[at]])))
    assign(".Last.value", shown$value, envir = offered)
    if (shown$visible) {
      if (at == length(parsed) && sink.number() == 0L) data <- allowInterrupts(bundle(shown$value))
      else allowInterrupts(print_value(shown$value))
    }
    tell_warnings()
  }
  pages <- take_drawings()
  # What is only drawn when it is printed is its drawing.
  if (!is.null(data) && data[["text/plain"]] == "" && length(data) == 1L) {
    data <- if (length(pages) > 0L) pages[[length(pages)]] else NULL
    if (length(pages) > 0L) pages[[length(pages)]] <- NULL
  }
  for (page in pages) send(result_of(page, FALSE))
  list(0L, if (is.null(data)) "" else result_of(data, TRUE))
}

guarded <- function(code) {
  found <<- nowhere
  ended <- tryCatch(
    withCallingHandlers(run_cell(code), warning = on_warning, error = on_error),
    error = function(e) list(1L, error_of(e, found)),
    interrupt = function(e) list(1L, interrupted()))
  if (ended[[1L]] != 0L) {
    tell_warnings()
    for (page in tryCatch(take_drawings(), error = function(e) list())) send(result_of(page, FALSE))
  }
  ended
}

set_variable <- function(change) {
  at <- regexpr("=", change, fixed = TRUE)
  value <- structure(list(substring(change, at + 1L)), names = substr(change, 1L, at - 1L))
  do.call(Sys.setenv, value)
}

execute <- function(code) {
  count <<- count + 1L
  # An interrupt that came when nothing was executed is nobody's.
  tryCatch(allowInterrupts(Sys.sleep(1e-6)), interrupt = function(e) NULL)
  keys <- sub("=.*", "", changes)
  before <- Sys.getenv(keys, NA, names = FALSE)
  for (change in changes) set_variable(change)
  changes <<- character()
  ended <- guarded(code)
  for (i in seq_along(keys)) if (is.na(before[i])) Sys.unsetenv(keys[i]) else set_variable(paste0(keys[i], "=", before[i]))
  flush(stdout())
  flush(stderr())
  send(paste0(ended[[2L]], message_of("D", paste(ended[[1L]], count))))
}

options(device = open_device)
# What cells find without having defined it.
offered <- attach(list(display = display), name = "tools:kernel", warn.conflicts = FALSE)

serve <- function() {
  send(message_of("K", plain_bytes(getwd())))
  repeat {
    told <- receive()
    switch(told[[1L]], A = mark <<- told[[2L]], X = execute(told[[2L]]), V = changes <<- c(changes, told[[2L]]), P = set_variable(told[[2L]]))
  }
}
tryCatch(suspendInterrupts(serve()), finally = quit("no", 1L, FALSE))
