const none = Buffer.alloc(0);

/**
 * Collects the chunks of a body in one buffer. A list of the chunks would take some 200 bytes for
 * each of them, and the other side may send chunks of one byte.
 */
export class ByteCollector {
  /** Its first `length` bytes are the collected ones. */
  #buffer: Buffer = none;
  #length = 0;

  /** Adds a chunk. The collector may keep it, so its bytes must not change any more. */
  add(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    // Most bodies arrive in one chunk, which need not be copied.
    if (this.#length === 0) {
      this.#buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    } else {
      if (length > this.#buffer.length) {
        const larger = Buffer.alloc(Math.max(length, 2 * this.#buffer.length));
        larger.set(this.bytes);
        this.#buffer = larger;
      }
      this.#buffer.set(chunk, this.#length);
    }
    this.#length = length;
  }

  /** The bytes that were added. A view, which shares the memory of the collector. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }
}
