/**
 * Refuses a version of Node that is too old, in one sentence. Each built file imports this file
 * first, and the scripts of `package.json` run it first. It is JavaScript, because an old Node must
 * be able to run it.
 */
import { pathToFileURL } from "node:url";

const { node, bun, deno } = process.versions;
const [major = 0, minor = 0] = node.split(".").map(Number);

// Older versions, and all of 23, lack `StatementSync.setReturnArrays` of `node:sqlite`.
const isTooOld = major < 22 || (major === 22 && minor < 16) || major === 23;

// Other runtimes report the version of Node that they imitate.
if (isTooOld && bun === undefined && deno === undefined) {
  const sentence = `tidings needs Node 22.16 or later, but not 23. This is Node ${node}.`;
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
