/** The commands of a model-based test (see `fc.commands`). */
import type fc from "fast-check";

/**
 * Returns a function that makes commands. After each command, `checkAgreement` compares the engine
 * with the model.
 */
export function modelCommands<Model extends object, Real>(
  checkAgreement: (model: Model, real: Real) => Promise<unknown>,
) {
  return (
    name: string,
    run: (model: Model, real: Real) => Promise<unknown>,
    /** Whether the command can run now. Default: always. */
    check: (model: Readonly<Model>) => boolean = () => true,
  ): fc.AsyncCommand<Model, Real> => ({
    check,
    async run(model, real) {
      await run(model, real);
      await checkAgreement(model, real);
    },
    toString: () => name,
  });
}
