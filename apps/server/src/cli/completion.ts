import type { Command } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `_weir() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _weir weir
`,
  zsh: `#compdef weir
_weir() {
  local -a found
  found=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [ -n "$found" ] && compadd -- "\${found[@]}" || _files
}
compdef _weir weir
`,
  fish: `complete -c weir -a '(weir complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

/** To be evaluated by the shell. It asks this program, so that it never grows old. */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}

/** What may stand in place of the last of `words`, which may be empty: commands, or options where it begins with a dash. */
export function candidatesFor(program: Command, words: readonly string[]): string[] {
  const before = words.slice(0, -1);
  const last = words.at(-1) ?? "";
  let command = program;
  for (const word of before) {
    const next = command.commands.find((one) => one.name() === word);
    if (next) command = next;
  }
  const names = last.startsWith("-") ? optionsOf(command, program) : commandsOf(command);
  return names.filter((name) => name.startsWith(last));
}

const commandsOf = (command: Command): string[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((one) => one.name());

function optionsOf(command: Command, program: Command): string[] {
  const own = command.createHelp().visibleOptions(command);
  return [...new Set([...own, ...program.options])].flatMap(({ long }) => long ?? []);
}
