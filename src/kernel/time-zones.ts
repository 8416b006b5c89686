/** Whether it is a name of the IANA time zone database, as far as this runtime knows it. */
export function isTimeZone(name: string): boolean {
  // Offsets are taken too, but no place keeps to one.
  if (!/^[a-z]/i.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
