import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import classes from "./search-box.module.css";

interface Props {
  readonly label: string;
  /** The words in the page's address. */
  readonly words: string | undefined;
  readonly onWords: (words: string) => void;
}

/** A search box that searches a moment after the person typed the last letter. */
export function SearchBox({ label, words, onWords }: Props) {
  const [typed, setTyped] = useState(words ?? "");
  const sent = useRef(words);
  const search = useDebouncedCallback((wanted: string) => {
    sent.current = wanted || undefined;
    onWords(wanted);
  }, 250);
  // Something else changed the address: the browser's "back" button, or a link that shows everything.
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
