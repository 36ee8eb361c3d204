import { createMemoryStore } from '../../../lib/record/memory-store.ts';
import { storeContract } from './suite.ts';

storeContract('memory', async (options) => ({ store: createMemoryStore(options), close: async () => undefined }));
