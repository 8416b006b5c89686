import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { Compressible } from "../../adapters/web/shared/server/compressible.ts";

const file = (text: string): Uint8Array => Buffer.from(text.repeat(1_000));

it("a file is compressed once for all mounts of its page", async () => {
  const mounts = [new Compressible(file("page"), 9), new Compressible(file("page"), 9)] as const;
  for (const encoding of ["br", "gzip"] as const) {
    const bodies = await Promise.all(mounts.map((mount) => mount.in(encoding)));
    expect(bodies[1]).toBe(bodies[0]);
  }
});

it("files that differ, and equal files of another quality, are not confused", async () => {
  const page = new Compressible(file("page"), 9);
  const better = new Compressible(file("page"), 11);
  const other = new Compressible(file("other"), 9);
  expect(await better.in("br")).not.toBe(await page.in("br"));
  expect(brotliDecompressSync(await page.in("br"))).toEqual(file("page"));
  expect(brotliDecompressSync(await other.in("br"))).toEqual(file("other"));
  expect(gunzipSync(await other.in("gzip"))).toEqual(file("other"));
});
