import { VisuallyHidden } from '@mantine/core';
import { IconFile, IconPhotoOff } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { connection, useIsOnline } from '../connection';
import classes from './VirtualGrid.module.css';

export interface ThumbProps {
  src: string | null | undefined;
  /** Empty when the name stands beside it. */
  alt?: string;
  onBroken?: () => void;
}

/** The whole image. Its download stops when it leaves the page: scrolling fast must not queue thousands. */
export function Thumb({ src, alt = '', onBroken }: ThumbProps) {
  const ref = useRef<HTMLImageElement>(null);
  const [broken, setBroken] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: one that was broken is drawn anew
  useEffect(() => {
    const image = ref.current;
    if (!image || !src) return;
    image.src = src;
    return () => {
      if (!image.complete) image.removeAttribute('src');
    };
  }, [src, broken]);
  const isOnline = useIsOnline();
  useEffect(() => {
    if (isOnline) setBroken(null);
  }, [isOnline]);
  if (!src || broken === src)
    return (
      <span className={classes.noImage}>
        {alt && <VisuallyHidden>{alt}</VisuallyHidden>}
        {src ? <IconPhotoOff size={20} stroke={1.4} /> : <IconFile size={20} stroke={1.4} />}
      </span>
    );
  return (
    <img
      ref={ref}
      alt={alt}
      decoding="async"
      draggable={false}
      className={classes.image}
      onError={(event) => {
        if (!event.currentTarget.hasAttribute('src')) return;
        setBroken(src);
        onBroken?.();
        // Perhaps nobody answers: then it is fetched again when somebody does.
        connection.missed();
      }}
    />
  );
}
