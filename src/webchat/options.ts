export interface WebchatOptions {
  /** Whose pages may write and listen as visitors, as browsers say it: `https://shop.example`. Up to 100; by default none. */
  readonly origins?: readonly string[];
  /** How long a visitor's session lasts, 1 to 720 hours; by default 24. */
  readonly sessionHours?: number;
}
