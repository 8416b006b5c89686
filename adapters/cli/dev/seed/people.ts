/** The customers of the shop. Their numbers belong to nobody. */
import type { MessagingEngine } from "../../../entry.ts";

/** A customer of the shop. */
export interface Customer {
  readonly name: string;
  /** Numbers that begin with +1500555 are the sandbox's test numbers. */
  readonly phone: string;
  readonly email: string;
  readonly labels: readonly string[];
  readonly city: string;
}

const customer = (
  name: string,
  phone: string,
  city: string,
  ...labels: readonly string[]
): Customer => {
  const local = name
    .normalize("NFD")
    .replaceAll(/[^A-Za-z ]/g, "")
    .trim()
    .toLowerCase()
    .replaceAll(/ +/g, ".");
  return { name, phone, city, labels, email: `${local || "customer"}@example.com` };
};

export const maya = customer("Maya Okafor", "+12065550101", "Seattle", "regular");
export const jonas = customer("Jonas Weber", "+12065550102", "Tacoma");
export const priya = customer("Priya Raman", "+12065550103", "Seattle", "regular", "vip");
export const luca = customer("Luca Moretti", "+12065550104", "Bellevue", "business");
export const sofia = customer("Sofía Álvarez", "+12065550105", "Seattle");
export const tomasz = customer("Tomasz Wójcik", "+12065550106", "Renton");
export const aiko = customer("Aiko Tanaka", "+12065550107", "Seattle", "vip");
export const dele = customer("Dele Adeyemi", "+12065550108", "Everett");
export const hannah = customer("Hannah Lindqvist", "+12065550109", "Seattle", "regular");
export const noor = customer("نور حداد", "+12065550110", "Kirkland");
export const wei = customer("王芳", "+12065550111", "Seattle", "business");
export const chloe = customer("Chloé Dubois", "+12065550112", "Redmond");
export const sam = customer("Sam Rivera", "+12065550113", "Seattle");
export const ines = customer("Inês Carvalho", "+12065550114", "Seattle");
export const ruth = customer("Ruth Goldberg", "+12065550115", "Olympia", "regular");

/** Customers whose phones behave in a special way, by the sandbox's numbers. */
export const unreachable = customer("Greta Lind", "+15005550003", "Seattle");
export const filtered = customer("Ben Carter", "+15005550004", "Seattle");
export const wrongNumber = customer("Rosa Díaz", "+15005550005", "Tacoma");
export const landline = customer("Harold Finch", "+15005550006", "Olympia");
export const silent = customer("Amara Nwosu", "+15005550009", "Everett");
export const stopper = customer("Peter Novak", "+15005550016", "Seattle");

/** Customers who get notices about their orders. */
export const regulars: readonly Customer[] = [
  customer("Elif Yılmaz", "+12065550120", "Seattle"),
  customer("Marcus Bell", "+12065550121", "Seattle", "regular"),
  customer("Fatima Zahra", "+12065550122", "Kent"),
  customer("Oliver Grant", "+12065550123", "Seattle"),
  customer("Ngozi Eze", "+12065550124", "Burien", "regular"),
  customer("Erik Halvorsen", "+12065550125", "Ballard"),
  customer("Camila Rojas", "+12065550126", "Seattle", "vip"),
  customer("Daniel Kim", "+12065550127", "Shoreline"),
  customer("Leila Farahani", "+12065550128", "Bellevue"),
  customer("Jack O'Brien", "+12065550129", "Seattle"),
];

const known = [maya, jonas, priya, luca, sofia, tomasz, aiko, dele, hannah, noor, wei, chloe, ruth];
const special = [unreachable, filtered, wrongNumber, landline, silent, stopper];

/** The people who answer, by their ids. */
export const staff = { anna: "Anna Lindgren", kim: "Kim Larsen", omar: "Omar Haddad" } as const;

/** The customers whom the shop has in its address book. */
export const everyone: readonly Customer[] = [...known, ...special, ...regulars];

/** The customer whom the shop adds first. */
export const first = maya;

/** @throws TidingsError `conflict` when the customer is there already */
export async function addCustomer(
  engine: MessagingEngine,
  { name, phone, email, labels, city }: Customer,
): Promise<void> {
  await engine.contacts.create({
    name,
    phone,
    email,
    labels: [...labels],
    attributes: { city },
    time_zone: "America/Los_Angeles",
  });
}
