/** 1 if a key is the arrow along the line of text, -1 if it is the one against it, and else 0. */
export function stepOf({ key }: KeyboardEvent): 1 | -1 | 0 {
  const isRightToLeft = document.documentElement.dir === "rtl";
  if (key === "ArrowRight") return isRightToLeft ? -1 : 1;
  if (key === "ArrowLeft") return isRightToLeft ? 1 : -1;
  return 0;
}
