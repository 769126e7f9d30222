import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { GuidelinePicture } from '@/api/contract/labeling';
import { ApiError } from '@/api/errors';
import { MAX_PICTURE_BYTES, sendPicture } from './pictureUpload';

export interface PictureUpload {
  id: number;
  file: File;
  /** 0 to 1. */
  ratio: number;
  /** Null while it waits or is on its way. */
  error: unknown;
  ending: AbortController;
}

/** Pictures on their way to the server, one after the other, so that they arrive in the order of the choice. */
export function usePictureUploads(project: string, onStored: (picture: GuidelinePicture, file: File) => void) {
  const { t } = useTranslation();
  const [uploads, setUploads] = useState<PictureUpload[]>([]);
  const latest = useRef(onStored);
  latest.current = onStored;
  const last = useRef(Promise.resolve());
  const count = useRef(0);
  const all = useRef(new Set<AbortController>());
  useEffect(() => {
    const running = all.current;
    // A closed form takes no more pictures.
    return () => {
      for (const ending of running) ending.abort();
    };
  }, []);
  const change = (id: number, changes: Partial<PictureUpload>) =>
    setUploads((old) => old.map((upload) => (upload.id === id ? { ...upload, ...changes } : upload)));
  const remove = (id: number) => setUploads((old) => old.filter((upload) => upload.id !== id));
  const send = async ({ id, file, ending }: PictureUpload) => {
    if (ending.signal.aborted) return;
    try {
      if (file.size > MAX_PICTURE_BYTES)
        throw tooLarge(t('labeling.pictures.tooLarge'), t('labeling.pictures.smaller'));
      const picture = await sendPicture(project, file, ending.signal, (ratio) => change(id, { ratio }));
      all.current.delete(ending);
      remove(id);
      latest.current(picture, file);
    } catch (error) {
      if (!ending.signal.aborted) change(id, { error });
    }
  };
  const queue = (upload: PictureUpload) => {
    last.current = last.current.then(() => send(upload));
  };
  return {
    uploads,
    add: (files: readonly File[]) => {
      const begun = files.map((file) => {
        count.current += 1;
        return { id: count.current, file, ratio: 0, error: null, ending: new AbortController() };
      });
      setUploads((old) => [...old, ...begun]);
      for (const upload of begun) {
        all.current.add(upload.ending);
        queue(upload);
      }
    },
    retry: (upload: PictureUpload) => {
      change(upload.id, { error: null, ratio: 0 });
      queue(upload);
    },
    remove: (upload: PictureUpload) => {
      upload.ending.abort();
      remove(upload.id);
    },
  };
}

const tooLarge = (title: string, action: string) =>
  new ApiError({ status: 413, code: 'guideline_picture_too_large', title, action });
