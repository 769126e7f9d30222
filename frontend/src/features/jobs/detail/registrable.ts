import type { Artifact } from '@/api/contract/jobs';

/** The folder that a run's model is declared to be: `run.save_model` and the workflows write it. */
export const MODEL_FOLDER = 'model/';

export interface Registrable {
  /** The declared model output, whole; null if the run left none. */
  folder: { path: string; files: number } | null;
  /** Stored files one by one. */
  files: string[];
}

/** The files that can become a model version: the stored ones of the newest attempt that left any. */
export function registrable(artifacts: readonly Artifact[]): Registrable {
  const stored = artifacts.filter((file) => file.state === 'persisted');
  const inFolder = stored.filter((file) => file.path.startsWith(MODEL_FOLDER));
  const newest = Math.max(...inFolder.map((file) => file.attempt));
  const count = inFolder.filter((file) => file.attempt === newest).length;
  return {
    folder: count > 0 ? { path: MODEL_FOLDER, files: count } : null,
    files: [...new Set(stored.map((file) => file.path))],
  };
}

/** The whole model output, or the only file there is; otherwise a person has to say. */
export function preferred({ folder, files }: Registrable): string {
  return folder?.path ?? (files.length === 1 ? (files[0] as string) : '');
}

/** Whether the server takes it as the name of a model. */
export const isModelName = (name: string): boolean => /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/.test(name);
