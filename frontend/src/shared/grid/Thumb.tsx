import { VisuallyHidden } from '@mantine/core';
import { IconFile, IconPhotoOff } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { connection, useIsOnline } from '../live/connection';
import classes from './VirtualGrid.module.css';

export interface ThumbProps {
  src: string | null | undefined;
  /** Empty when the name stands beside it. */
  alt?: string;
  onBroken?: () => void;
  /** Width and height in pixels, as soon as they are known. */
  onSize?: (width: number, height: number) => void;
  /** The text in its place: the file is known to be corrupt, so its picture is not asked for. */
  damaged?: string;
}

/** The whole image. Its download stops when it leaves the page: scrolling fast must not queue thousands. */
export function Thumb({ src, alt = '', onBroken, onSize, damaged }: ThumbProps) {
  const { t } = useTranslation();
  const ref = useRef<HTMLImageElement>(null);
  const [broken, setBroken] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: one that was broken is drawn anew
  useEffect(() => {
    const image = ref.current;
    if (!image || !src || damaged) return;
    image.src = src;
    return () => {
      if (!image.complete) image.removeAttribute('src');
    };
  }, [src, broken, damaged]);
  const isOnline = useIsOnline();
  useEffect(() => {
    if (isOnline) setBroken(null);
  }, [isOnline]);
  if (!src || damaged || broken === src)
    return (
      <span className={classes.noImage} data-damaged={damaged ? true : undefined}>
        {alt && <VisuallyHidden>{alt}</VisuallyHidden>}
        {src ? <IconPhotoOff size={20} stroke={1.4} aria-hidden /> : <IconFile size={20} stroke={1.4} aria-hidden />}
        {src && <span className={classes.why}>{damaged || t('common.noPreview')}</span>}
      </span>
    );
  return (
    <img
      ref={ref}
      alt={alt}
      decoding="async"
      draggable={false}
      className={classes.image}
      onLoad={({ currentTarget }) => onSize?.(currentTarget.naturalWidth, currentTarget.naturalHeight)}
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
