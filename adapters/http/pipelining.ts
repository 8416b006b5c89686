/**
 * Lets the requests of a connection be handled one after another.
 *
 * A client may send further requests before it has read the first response (pipelining: RFC 9112,
 * section 9.3.2). Node starts all of them at once and keeps the responses until the client reads
 * them. So a client that reads nothing could make the process work and buffer without a limit, and
 * writes that must follow each other could overtake each other.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * How many requests of a connection may wait before no more is read from it. Requests in bytes that
 * Node has already read wait too: at most 64 KiB of them.
 */
const maxWaiting = 100;

/**
 * Whether responses to earlier requests of the connection are not sent yet. Node gives a response
 * its socket when the operating system has taken all of the response before it, and takes the
 * socket away at the end. The streams of an HTTP/2 connection always have theirs.
 */
export function mustWait({ socket, writableEnded }: ServerResponse): boolean {
  return socket === null && !writableEnded;
}

/**
 * Waits until the earlier responses of the connection are sent, however slowly the client reads
 * them. Resolves with false if the connection closes first. Call it only if `mustWait`.
 */
export function earlierResponsesSent(response: ServerResponse): Promise<boolean> {
  const { socket } = response.req;
  if (socket.destroyed) return Promise.resolve(false);
  let queue = queues.get(socket);
  if (queue === undefined) queues.set(socket, (queue = new Queue(socket)));
  return queue.wait(response);
}

const queues = new WeakMap<Socket, Queue>();

/** The requests of one connection that wait. */
class Queue {
  readonly #socket: Socket;
  readonly #waiting = new Set<(isOpen: boolean) => void>();
  #isPaused = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.once("close", () => {
      for (const finish of this.#waiting) finish(false);
    });
    // When the client takes a part of a long response, Node reads on, whoever paused the socket.
    socket.on("resume", () => {
      if (this.#isPaused) socket.pause();
    });
  }

  wait(response: ServerResponse): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (isOpen: boolean): void => {
        this.#waiting.delete(finish);
        this.#resumeIfEmpty();
        resolve(isOpen);
      };
      this.#waiting.add(finish);
      this.#pauseIfFull();
      // In the next round of the event loop, so that other connections have their share of it.
      response.once("socket", () => setImmediate(finish, true));
    });
  }

  /**
   * Node itself stops reading only when it has unsent responses, and waiting requests have none.
   */
  #pauseIfFull(): void {
    if (this.#isPaused || this.#waiting.size < maxWaiting) return;
    this.#isPaused = true;
    // Not at once, because Node reads on at the end of each request.
    process.nextTick(() => {
      if (this.#isPaused) this.#socket.pause();
    });
  }

  #resumeIfEmpty(): void {
    if (!this.#isPaused || this.#waiting.size > 0) return;
    this.#isPaused = false;
    this.#socket.resume();
  }
}
