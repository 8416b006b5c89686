/** The parts of a `KeyboardEvent` that tell of an input method. */
interface ComposingKey {
  readonly isComposing: boolean;
  /** 229 if an input method handles the key (UI Events, legacy key attributes). */
  readonly keyCode: number;
}

/**
 * Whether a key belongs to the composition of a character. In Japanese, for example, Enter chooses
 * a character and Escape drops it. In Safari, the composition is already over when the key that
 * ended it arrives. Then only the legacy `keyCode` says so.
 */
export const isComposing = (event: ComposingKey): boolean =>
  event.isComposing || event.keyCode === 229;
