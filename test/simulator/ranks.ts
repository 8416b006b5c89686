const ranks: Readonly<Record<string, number>> = {
  sent: 1,
  unconfirmed: 2,
  undelivered: 3,
  delivered: 4,
  read: 5,
};

/** How much a status proves of a message's carriage; 0 of what proves nothing. */
export function rankOf(status: string): number {
  return ranks[status] ?? 0;
}
