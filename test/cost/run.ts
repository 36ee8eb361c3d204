/** `npm run cost`: counts what is paid for and prints what it comes to. */
import { report } from './report.ts';

process.stdout.write(await report());
