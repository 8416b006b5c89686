/** The page's place, in the hash of its address: `#/mine/conv_01…?label=vip`. */
import { signal } from "@preact/signals";

/** A place in the page. */
export interface Place {
  /** The parts of the path, decoded. */
  readonly path: readonly string[];
  /** The parameters. */
  readonly query: Readonly<Record<string, string>>;
}

/** The place that the page shows. It follows the address once the browser reports the change. */
export const place = signal<Place>(placeOf(location.hash));

/**
 * The place in the address. Read it, not `place`, before going elsewhere: the person may have just
 * followed a link.
 */
export const placeNow = (): Place => placeOf(location.hash);

/** Decides whether the page stays where it is, although the address has changed. */
type Guard = () => boolean;

let guard: Guard | undefined;

/** Asks `stays` whenever the person changes the address. Returns what ends that. */
export function guardPlace(stays: Guard): () => void {
  const before = guard;
  guard = stays;
  return () => void (guard = before);
}

window.addEventListener("hashchange", () => {
  if (guard?.() !== true) {
    place.value = placeNow();
    return;
  }
  // A page cannot prevent a change of the hash, so it returns with `history.back()`.
  // Of several changes at once, such as two of Back, the first returns to the place that is shown.
  const shown = linkTo(place.value.path, place.value.query);
  const { path, query } = placeNow();
  if (linkTo(path, query) !== shown) history.pushState(null, "", shown);
});

function placeOf(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split("?", 2);
  return {
    path: path.split("/").filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a place, for a link. Empty parameters are left out. */
export function linkTo(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const entries = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = new URLSearchParams(entries).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`;
}

/** Returns a `go` to call later. It does nothing if the person has gone to another path by then. */
export function goFromHere(): typeof go {
  const here = linkTo(placeNow().path);
  return (link, replace) => {
    if (linkTo(placeNow().path) === here) go(link, replace);
  };
}

/**
 * Goes to a place, without the question of a guard. `replace` leaves no step in the browser's
 * history.
 */
export function go(link: string, replace = false): void {
  guard = undefined;
  if (replace) {
    history.replaceState(null, "", link);
    place.value = placeNow();
  } else {
    location.hash = link;
  }
}
