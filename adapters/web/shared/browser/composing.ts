/**
 * Whether a key belongs to the composition of a character, such as Enter in Japanese, which chooses
 * one, and Escape, which drops it. In Safari the composition is over when the key comes that ended it, and only its code tells.
 */
export const isComposing = (event: KeyboardEvent): boolean =>
  // oxlint-disable-next-line typescript/no-deprecated -- nothing else tells of it in Safari
  event.isComposing || event.keyCode === 229;
