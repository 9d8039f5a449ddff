import { clientPackage } from "./packages/client-package.ts";
import { writeArchive } from "./packages/package-archive.ts";
import { playerPackage } from "./packages/player-package.ts";
import { reactPackage } from "./packages/react-package.ts";

/** Writes the packages of npm that the server hands out, and prints where. */
for (const archive of [clientPackage, playerPackage, reactPackage]) console.log(await writeArchive(archive));
