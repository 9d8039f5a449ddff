import { Argument, type Command } from "commander";
import { candidatesFor, completionScript, SHELLS, type Shell } from "../completion.ts";

/** `weir completion`: a script for the shell, which asks the hidden `weir complete` for each word. */
export function completionCommands(program: Command): void {
  program
    .command("completion")
    .description("print a script that completes commands in your shell")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .addHelpText("after", '\nFor bash, add to ~/.bashrc:  eval "$(weir completion bash)"')
    .action((shell: Shell) => {
      process.stdout.write(completionScript(shell));
    });

  program
    .command("complete", { hidden: true })
    .helpOption(false)
    .allowUnknownOption()
    .argument("[words...]")
    .action((words: readonly string[]) => {
      for (const candidate of candidatesFor(program, words)) process.stdout.write(`${candidate}\n`);
    });
}
