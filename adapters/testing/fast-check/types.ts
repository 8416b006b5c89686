/**
 * The parts of fast-check that the testing kit uses, as shapes: a test passes its own fast-check,
 * of version 4, and mixes what it gets with its own arbitraries.
 */

import { hasMethods, option, optionsObject, parseOptions } from "../../../src/kernel/index.ts";

/**
 * An arbitrary of your fast-check, as `fc.Arbitrary<T>`: pass it to any function of `fc`. Only
 * fast-check calls the methods whose result is `never`. Their types are its own.
 */
export interface Arbitrary<T> {
  /** Generates a value. */
  generate(source: object, biasFactor: number | undefined): never;
  /** Whether the arbitrary could have generated the value. */
  canShrinkWithoutContext(value: unknown): value is T;
  /** Returns smaller values. */
  shrink(value: T, context: unknown): never;
  /** Keeps the values of a type. */
  filter<U extends T>(condition: (value: T) => value is U): Arbitrary<U>;
  /** Keeps the values that fit. */
  filter(condition: (value: T) => boolean): Arbitrary<T>;
  /** Maps each value. */
  map<U>(mapper: (value: T) => U): Arbitrary<U>;
  /** Generates values that depend on others. */
  chain<U>(chainer: (value: T) => Arbitrary<U>): Arbitrary<U>;
}

/** What fast-check's functions return, as far as the testing kit uses it. */
export interface AnyArbitrary<T> {
  /** Maps each value. */
  map<U>(mapper: (value: T) => U): AnyArbitrary<U>;
}

/** A range of whole numbers. */
export interface Bounds {
  /** The smallest number. */
  min: number;
  /** The largest number. */
  max: number;
}

/** A range of lengths. */
export interface Lengths {
  /** The smallest length. */
  minLength: number;
  /** The largest length. */
  maxLength: number;
}

/** The functions of fast-check that the testing kit calls: pass `fc`. */
export interface FastCheck {
  /** Whole numbers in a range. */
  integer(constraints: Bounds): AnyArbitrary<number>;
  /** One of the values. Shrinks to the first. */
  constantFrom<T>(...values: T[]): AnyArbitrary<T>;
  /** Lists. */
  array<T>(item: AnyArbitrary<T>, constraints: Lengths): AnyArbitrary<T[]>;
  /** Fixed lists. */
  tuple<A, B>(first: AnyArbitrary<A>, second: AnyArbitrary<B>): AnyArbitrary<[A, B]>;
}

/** The same functions with results that can be passed to each other. */
export interface Generators {
  readonly integer: (min: number, max: number) => Arbitrary<number>;
  readonly oneOf: <T>(values: readonly T[]) => Arbitrary<T>;
  readonly list: <T>(item: Arbitrary<T>, minLength: number, maxLength: number) => Arbitrary<T[]>;
  readonly pair: <A, B>(first: Arbitrary<A>, second: Arbitrary<B>) => Arbitrary<[A, B]>;
}

const argumentsSchema = optionsObject({
  fc: option<FastCheck>('fast-check, as of `import fc from "fast-check"`', (fc) =>
    hasMethods(fc, "integer", "constantFrom", "array", "tuple"),
  ),
});

/**
 * Checks the argument of a function. `subject` is its name.
 * @throws TidingsError `invalid_option` when it is not fast-check
 */
export function checkFastCheck(subject: string, fc: FastCheck): void {
  parseOptions(`${subject}: `, argumentsSchema, { fc });
}

/** The functions of a test's fast-check. */
export function generatorsOf(fc: FastCheck): Generators {
  return {
    integer: (min, max) => own(fc.integer({ min, max })),
    oneOf: (values) => own(fc.constantFrom(...values)),
    list: (item, minLength, maxLength) => own(fc.array(item, { minLength, maxLength })),
    pair: (first, second) => own(fc.tuple(first, second)),
  };
}

/** The cast is safe: fast-check made it, so it has the methods that fast-check calls. */
function own<T>(made: AnyArbitrary<T>): Arbitrary<T> {
  return made as Arbitrary<T>;
}
