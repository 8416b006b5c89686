/**
 * Refuses a version of Node that is too old, in one sentence. Each built file imports this file
 * first, and the scripts of `package.json` run it first. It is JavaScript, because an old Node must
 * be able to run it.
 */
import { pathToFileURL } from "node:url";

const { node, bun, deno } = process.versions;
const [major = 0, minor = 0] = node.split(".").map(Number);

// Other runtimes report the version of Node that they imitate.
if (bun === undefined && deno === undefined && (major < 22 || (major === 22 && minor < 13))) {
  const sentence = `tidings needs Node 22.13 or later, but this is Node ${node}.`;
  const [, program] = process.argv;
  if (program !== undefined && import.meta.url === pathToFileURL(program).href) {
    process.stderr.write(`${sentence}\n`);
    process.exit(1);
  }
  const error = new Error(sentence);
  // Without a stack trace, Node prints the sentence alone.
  error.stack = sentence;
  throw error;
}
