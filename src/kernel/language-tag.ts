/**
 * Whether a text is a language tag (BCP 47) that `Intl` accepts, such as `pt-BR`. It accepts no tag
 * that has only a private use, such as `x-private`.
 */
export function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
