import "./docs.css";
import { addCopyButtons, groupSamples } from "./code-samples.ts";
import { addSearch } from "./search.ts";
import { addTryOuts } from "./try-out.ts";

groupSamples(document);
addCopyButtons(document);
addTryOuts(document);
addSearch(document);
