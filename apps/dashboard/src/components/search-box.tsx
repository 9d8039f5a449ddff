import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import classes from "./search-box.module.css";

interface Props {
  readonly label: string;
  /** As they stand in the address. */
  readonly words: string | undefined;
  readonly onWords: (words: string) => void;
}

/** Searches a moment after the last letter was typed. */
export function SearchBox({ label, words, onWords }: Props) {
  const [typed, setTyped] = useState(words ?? "");
  const sent = useRef(words);
  const search = useDebouncedCallback((wanted: string) => {
    sent.current = wanted || undefined;
    onWords(wanted);
  }, 250);
  // The address changed by other means than this box: the browser's "back", or "show all".
  useEffect(() => {
    if (words === sent.current) return;
    sent.current = words;
    setTyped(words ?? "");
  }, [words]);
  return (
    <TextInput
      className={classes.search ?? ""}
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        search(event.currentTarget.value.trim());
      }}
    />
  );
}
