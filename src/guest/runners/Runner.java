// The runner of Java: executes cells with JShell in this process and tells results, errors and the end on a private descriptor.
// Started from its source, which needs no build: JShell wants the compiler anyway. What cells do to the machine below them
// (System.exit, stopping every thread) ends it, and then the interpreter is reported dead; it is never left alive and dumb.
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import jdk.jshell.Diag;
import jdk.jshell.EvalException;
import jdk.jshell.JShell;
import jdk.jshell.JShellException;
import jdk.jshell.Snippet;
import jdk.jshell.SnippetEvent;
import jdk.jshell.SourceCodeAnalysis;
import jdk.jshell.UnresolvedReferenceException;
import sun.misc.Signal;

public final class Runner {
    private static final int TEXT_MAX = 1 << 20;
    private static final int TRACEBACK_MAX = 64 << 10;
    private static final int FRAMES_MAX = 100;
    private static final int LISTENING_MS = 10;  // how long an interrupt may wait to be heard
    // What the jshell tool imports when nobody says otherwise.
    private static final String[] IMPORTS = {"java.io", "java.math", "java.net", "java.nio.file", "java.util",
        "java.util.concurrent", "java.util.function", "java.util.prefs", "java.util.regex", "java.util.stream"};

    private final FileInputStream in;
    private final FileOutputStream out;
    private final Environment environment = new Environment();
    private final PrintStream ownOut = System.out;
    private final PrintStream ownErr = System.err;
    private final JShell shell;
    private final SourceCodeAnalysis reader;
    private final List<String> changes = new ArrayList<>();
    private final Object gate = new Object();
    private final Queue<Message> messages = new ConcurrentLinkedQueue<>();  // that came while a cell ran
    private volatile boolean busy, stopped;
    private int count;
    private volatile String mark = "";  // of the running execution: said with every word about it
    private String unwanted = "";       // the last execution that was to be interrupted

    private Runner(int number) throws ReflectiveOperationException {
        FileDescriptor descriptor = new FileDescriptor();
        Field field = FileDescriptor.class.getDeclaredField("fd");
        field.setAccessible(true);
        field.setInt(descriptor, number);
        in = new FileInputStream(descriptor);
        out = new FileOutputStream(descriptor);
        shell = JShell.builder().executionEngine("local").build();
        reader = shell.sourceCodeAnalysis();
        for (String name : IMPORTS) shell.eval("import " + name + ".*;");
    }

    // ---- words for the host

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void put(ByteArrayOutputStream into, char kind, byte[] payload) {
        into.writeBytes(bytes(kind + " " + payload.length + " " + mark + "\n"));
        into.writeBytes(payload);
    }

    private static void putField(ByteArrayOutputStream into, String text) {
        byte[] data = bytes(text);
        into.writeBytes(bytes(data.length + "\n"));
        into.writeBytes(data);
    }

    private static String cut(String text, int most) {
        return text.length() > most ? text.substring(0, most) + "..." : text;
    }

    private void putResult(ByteArrayOutputStream into, String text) {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        payload.write('1');
        putField(payload, "text/plain");
        putField(payload, cut(text, TEXT_MAX));
        put(into, 'R', payload.toByteArray());
    }

    private void putError(ByteArrayOutputStream into, String name, String value, String traceback) {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        putField(payload, name);
        putField(payload, cut(value, TEXT_MAX));
        putField(payload, cut(traceback, TRACEBACK_MAX));
        put(into, 'F', payload.toByteArray());
    }

    // ---- errors

    // JShell has already taken its own frames away and names a cell's code by the number of the snippet.
    private static void frames(StringBuilder text, StackTraceElement[] stack) {
        for (int i = 0; i < stack.length && i < FRAMES_MAX; i++) {
            StackTraceElement one = stack[i];
            String file = one.getFileName() == null ? "Unknown Source" : one.getFileName();
            String place = one.getLineNumber() < 0 ? file : file + ":" + one.getLineNumber();
            String owner = one.getClassName().isEmpty() ? "" : one.getClassName() + ".";
            String method = one.getMethodName() == null ? "" : owner + one.getMethodName();
            text.append("\n    at ").append(method.isEmpty() ? "" : method + " ").append('(').append(place).append(')');
        }
        if (stack.length > FRAMES_MAX) text.append("\n    ... ").append(stack.length - FRAMES_MAX).append(" more");
    }

    private static String nameOf(Throwable problem) {
        return problem instanceof EvalException ? ((EvalException) problem).getExceptionClassName()
                                                : problem.getClass().getName();
    }

    private void putException(ByteArrayOutputStream into, JShellException problem) {
        String name = nameOf(problem);
        String value = problem.getMessage() == null ? "" : problem.getMessage();
        if (problem instanceof UnresolvedReferenceException) {
            Snippet lacking = ((UnresolvedReferenceException) problem).getSnippet();
            value = "it refers to what is not defined: " + String.join(", ",
                shell.unresolvedDependencies((jdk.jshell.DeclarationSnippet) lacking).toArray(String[]::new));
        }
        StringBuilder text = new StringBuilder(name).append(value.isEmpty() ? "" : ": " + value);
        frames(text, problem.getStackTrace());
        int depth = 0;
        for (Throwable cause = problem.getCause(); cause != null && depth < 10; cause = cause.getCause(), depth++) {
            text.append("\nCaused by: ").append(nameOf(cause));
            if (cause.getMessage() != null) text.append(": ").append(cause.getMessage());
            frames(text, cause.getStackTrace());
        }
        putError(into, name, value, text.toString());
    }

    private void putDiagnostics(ByteArrayOutputStream into, Snippet snippet, String source) {
        StringBuilder text = new StringBuilder();
        String first = null;
        for (Diag diag : (Iterable<Diag>) shell.diagnostics(snippet)::iterator) {
            String message = diag.getMessage(Locale.ENGLISH);
            if (first == null && diag.isError()) first = message;
            int at = (int) Math.max(0, Math.min(source.length(), diag.getPosition()));
            int start = source.lastIndexOf('\n', at - 1) + 1;
            int end = source.indexOf('\n', at);
            int line = (int) source.substring(0, start).chars().filter(c -> c == '\n').count() + 1;
            text.append("line ").append(line).append(": ").append(message).append('\n');
            text.append(source, start, end < 0 ? source.length() : end).append('\n');
            text.append(" ".repeat(at - start)).append("^\n");
        }
        if (first == null) first = "this is not Java, or it is not complete";
        putError(into, "CompilationError", first, "CompilationError: " + first + "\n" + text);
    }

    // ---- cells

    // JShell makes a variable for the value of an expression that has no name.
    private static boolean isExpression(Snippet snippet) {
        return snippet.kind() == Snippet.Kind.EXPRESSION
            || snippet.subKind() == Snippet.SubKind.TEMP_VAR_EXPRESSION_SUBKIND;
    }

    // False if the cell ended there. A snippet's value is the cell's if it is the last one.
    private boolean evaluate(String source, boolean isLast, ByteArrayOutputStream into) {
        for (SnippetEvent event : shell.eval(source)) {
            if (event.causeSnippet() != null) continue;
            if (stopped) break;
            if (event.status() == Snippet.Status.REJECTED) {
                putDiagnostics(into, event.snippet(), source);
                return false;
            }
            if (event.exception() != null) {
                putException(into, event.exception());
                return false;
            }
            if (isLast && isExpression(event.snippet()) && event.value() != null && !event.value().isEmpty())
                putResult(into, event.value());
        }
        if (stopped) putInterrupt(into);
        return !stopped;
    }

    private void putInterrupt(ByteArrayOutputStream into) {
        putError(into, "KeyboardInterrupt", "", "KeyboardInterrupt");
    }

    private boolean runCell(String code, ByteArrayOutputStream into) {
        String rest = code;
        while (!rest.isBlank()) {
            SourceCodeAnalysis.CompletionInfo info = reader.analyzeCompletion(rest);
            if (info.completeness() == SourceCodeAnalysis.Completeness.EMPTY) return true;
            String source = info.source();
            String left = info.remaining();
            if (source == null || !info.completeness().isComplete()) {
                source = rest;
                left = "";
            }
            boolean isLast = left.isBlank()
                || reader.analyzeCompletion(left).completeness() == SourceCodeAnalysis.Completeness.EMPTY;
            boolean isDone = evaluate(source, isLast, into);
            if (System.out == null) System.setOut(ownOut);  // JShell itself wants one
            if (System.err == null) System.setErr(ownErr);
            if (!isDone) return false;
            rest = isLast ? "" : left;
        }
        return true;
    }

    private void flush(PrintStream... streams) {
        for (PrintStream stream : streams) {
            try {
                if (stream != null) stream.flush();
            } catch (RuntimeException | Error problem) {
                // the cells' own stream
            }
        }
    }

    private void execute(String code) throws IOException {
        count++;
        hear();
        Map<String, String> before = new LinkedHashMap<>(), properties = new LinkedHashMap<>();
        for (String change : changes) {
            int at = change.indexOf('=');
            String name = change.substring(0, at);
            before.putIfAbsent(name, System.getenv(name));
            properties.putIfAbsent(name, environment.property(name));
            environment.set(name, change.substring(at + 1));
        }
        changes.clear();
        ByteArrayOutputStream ending = new ByteArrayOutputStream();
        synchronized (gate) {
            stopped = unwanted.equals(mark);
            busy = true;
        }
        if (stopped) putInterrupt(ending);
        Thread listening = new Thread(this::listen, "atoll-listen");
        listening.setDaemon(true);
        listening.start();
        boolean isDone = !stopped && runCell(code, ending);
        synchronized (gate) {
            busy = false;
        }
        leave(listening);
        before.forEach(environment::setVariable);
        properties.forEach(environment::setProperty);
        flush(ownOut, ownErr, System.out, System.err);
        put(ending, 'D', bytes((isDone ? 0 : 1) + " " + count));
        out.write(ending.toByteArray());
    }

    // The host says which cell it means. A signal does not, and may come when the next one runs: it is only kept from ending
    // Java. Before every cell, because the one before may have put its own listener there.
    private static void hear() {
        Signal.handle(new Signal("INT"), signal -> { });
    }

    // One that has not begun never will; one that is over is not touched.
    private void interrupt(String its) {
        synchronized (gate) {
            unwanted = its;
            if (!busy || !mark.equals(its)) return;
        }
        Thread stopping = new Thread(() -> stop(its), "atoll-stop");
        stopping.setDaemon(true);
        stopping.start();
    }

    // JShell stops what runs; what is only being compiled it would then run.
    private void stop(String its) {
        for (;;) {
            synchronized (gate) {
                if (!busy || !mark.equals(its)) return;
                stopped = true;
                shell.stop();
            }
            try {
                Thread.sleep(20);
            } catch (InterruptedException ignored) {
                // on to the next attempt
            }
        }
    }

    // ---- messages

    private byte[] exactly(int size) throws IOException {
        byte[] data = new byte[size];
        for (int at = 0, read; at < size; at += read) {
            read = in.read(data, at, size - at);
            if (read <= 0) Runtime.getRuntime().halt(0);
        }
        return data;
    }

    private static final class Message {
        final char kind;
        final String text;

        Message(char kind, String text) {
            this.kind = kind;
            this.text = text;
        }
    }

    private Message next() throws IOException {
        char kind = (char) exactly(2)[0];
        StringBuilder digits = new StringBuilder();
        for (byte one = exactly(1)[0]; one != '\n'; one = exactly(1)[0]) digits.append((char) one);
        return new Message(kind, new String(exactly(Integer.parseInt(digits.toString())), StandardCharsets.UTF_8));
    }

    // While a cell runs, in a thread of its own. It only looks whether something came, because a cell may stop every thread:
    // one that waits in a read would take the next message with it.
    private void listen() {
        while (busy) {
            try {
                if (in.available() == 0) {
                    Thread.sleep(LISTENING_MS);
                    continue;
                }
                Message message = next();
                if (message.kind == 'I') interrupt(message.text);
                else messages.add(message);
            } catch (InterruptedException | ThreadDeath ignored) {
                // by the cell; there is still nobody else who listens
            } catch (Throwable problem) {
                Runtime.getRuntime().halt(1);
            }
        }
    }

    // Before anybody else reads.
    private static void leave(Thread listening) {
        while (listening.isAlive()) {
            listening.interrupt();  // it sleeps most of the time
            try {
                listening.join();
            } catch (InterruptedException ignored) {
                // by the cell
            }
        }
    }

    private void serve() throws IOException {
        ByteArrayOutputStream ready = new ByteArrayOutputStream();
        put(ready, 'K', bytes(System.getProperty("user.dir")));
        hear();
        out.write(ready.toByteArray());
        for (;;) {
            Message message = messages.isEmpty() ? next() : messages.remove();
            if (message.kind == 'A') {
                mark = message.text;
            } else if (message.kind == 'I') {
                interrupt(message.text);
            } else if (message.kind == 'X') {
                execute(message.text);
            } else if (message.kind == 'V') {
                changes.add(message.text);
            } else if (message.kind == 'P') {
                int at = message.text.indexOf('=');
                environment.set(message.text.substring(0, at), message.text.substring(at + 1));
            }
        }
    }

    // The variables that System.getenv() shows: Java has no way to set one but this. Processes get them if somebody looked at
    // their ProcessBuilder.environment(); otherwise they get what the interpreter was started with. Each is a system property
    // too, which is where E2B's clients look for them; properties that Java itself has keep their values.
    private static final class Environment {
        private final Set<String> ofJava = System.getProperties().stringPropertyNames();
        private Map<Object, Object> values;
        private Method variable, value;

        @SuppressWarnings("unchecked")
        Environment() {
            try {
                Class<?> holder = Class.forName("java.lang.ProcessEnvironment");
                Field field = holder.getDeclaredField("theEnvironment");
                field.setAccessible(true);
                values = (Map<Object, Object>) field.get(null);
                variable = opened("java.lang.ProcessEnvironment$Variable");
                value = opened("java.lang.ProcessEnvironment$Value");
            } catch (ReflectiveOperationException problem) {
                throw new IllegalStateException(problem);
            }
            System.getenv().forEach(this::setProperty);
        }

        private static Method opened(String name) throws ReflectiveOperationException {
            Method method = Class.forName(name).getMethod("valueOf", String.class);
            method.setAccessible(true);
            return method;
        }

        String property(String name) {
            return name.isEmpty() ? null : System.getProperty(name);
        }

        void set(String name, String text) {
            setVariable(name, text);
            setProperty(name, text);
        }

        // Null takes it away, here and below.
        void setProperty(String name, String text) {
            if (name.isEmpty() || ofJava.contains(name)) return;
            if (text == null) System.clearProperty(name);
            else System.setProperty(name, text);
        }

        void setVariable(String name, String text) {
            try {
                if (text == null) values.remove(variable.invoke(null, name));
                else values.put(variable.invoke(null, name), value.invoke(null, text));
            } catch (ReflectiveOperationException problem) {
                throw new IllegalStateException(problem);
            }
        }
    }

    public static void main(String[] words) {
        try {
            new Runner(Integer.parseInt(words[0])).serve();
        } catch (Throwable problem) {
            problem.printStackTrace();
        } finally {
            Runtime.getRuntime().halt(1);
        }
    }
}
