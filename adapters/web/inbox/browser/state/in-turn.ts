/** The last write of each conversation or contact that is under way. */
const last = new Map<string, Promise<unknown>>();

/**
 * Makes a write of a conversation or a contact when its earlier ones have ended, well or not. A
 * browser has several connections, so a later request could arrive before an earlier one.
 */
export function inTurn<T>(id: string, write: () => Promise<T>): Promise<T> {
  const own = (last.get(id) ?? Promise.resolve()).then(write, write);
  last.set(id, own);
  const end = (): void => {
    if (last.get(id) === own) last.delete(id);
  };
  own.then(end, end);
  return own;
}
