/**
 * What contacts write, knowledge and outcomes of actions can't look like the frame around them. Signs that begin a tag or a model's control
 * token (`</knowledge>`, `<|im_start|>system`, `<start_of_turn>`, `[INST]`) become lookalikes, which no template and no reader takes for
 * them, and Unicode's tag characters, which nobody sees and models read, go. All else stays as it is: text is shown, not judged.
 */
export function untrusted(text: string): string {
  return text
    .replaceAll(/[\u{e0000}-\u{e007f}]/gu, "")
    .replaceAll(/<(?=[\s/|!?]*[\p{L}|<_])/gu, "‹")
    .replaceAll(/\[(?=\s*\/?[A-Z_]{3,20}\])/g, "［");
}
