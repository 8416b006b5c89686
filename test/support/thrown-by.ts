/** Returns the error that `work` throws. If it throws none, returns a text that says so. */
export function thrownBy(work: () => unknown): unknown {
  try {
    return `none: ${typeof work()}`;
  } catch (error) {
    return error;
  }
}
