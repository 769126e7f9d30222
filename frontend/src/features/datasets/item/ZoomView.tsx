import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './item.module.css';
import { FITTED, type View } from './view';
import { ZoomButtons } from './ZoomButtons';
import { ZoomFrame } from './ZoomFrame';

interface ZoomViewProps {
  src: string;
  alt: string;
  /** Width and height of the picture, as soon as the browser knows them. */
  onSize: (width: number, height: number) => void;
  onBroken: () => void;
  over?: ReactNode;
  /** Stands in the corner, whatever part of the picture is seen. */
  children?: ReactNode;
}

/** A picture as large as there is room for, to be zoomed with the wheel or keys and moved by dragging. */
export function ZoomView({ src, children, ...rest }: ZoomViewProps) {
  const { t } = useTranslation();
  const [view, setView] = useState<View>(FITTED);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another picture is seen whole at first
  useEffect(() => setView(FITTED), [src]);
  return (
    <div className={classes.viewer}>
      <ZoomFrame
        src={src}
        label={t('item.picture')}
        describedBy="item-zoom-keys"
        view={view}
        onView={setView}
        {...rest}
      />
      <span id="item-zoom-keys" hidden>
        {t('item.zoomKeys')}
      </span>
      {children}
      <ZoomButtons onView={setView} className={classes.zoom} />
    </div>
  );
}
