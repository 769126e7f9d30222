import { Button, Collapse, Group, SegmentedControl, Stack, Textarea } from '@mantine/core';
import { IconLibraryPhoto, IconPhotoPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { type ClipboardEvent, type DragEvent, lazy, Suspense, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useProject } from '@/shared/domain/project';
import { whenReachable } from '@/shared/live/connection';
import { altOf, referencesOf, withPicture } from '../objects/guidelinePictures';
import { PICTURES_KEY } from '../queries';
import { ProjectPictures } from './ProjectPictures';
import classes from './pictures.module.css';
import { ShownPictures } from './ShownPictures';
import { UploadRows } from './UploadRows';
import { usePictureUploads } from './usePictureUploads';

const Guideline = lazy(whenReachable(() => import('../objects/Guideline')));
const ACCEPTED = 'image/png,image/jpeg,image/webp,image/gif';

interface GuidelineFieldProps {
  value?: string;
  error?: unknown;
  onChange?: (value: string) => void;
}

/** Advice for labelers in Markdown with pictures, and how they will see it. */
export function GuidelineField({ value = '', error, onChange = () => {} }: GuidelineFieldProps) {
  const { t } = useTranslation();
  const project = useProject();
  const client = useQueryClient();
  const [isPreview, setPreview] = useState(false);
  const [isOver, setOver] = useState(false);
  const [hasList, setList] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  const cursor = useCursor(value, onChange);
  const { uploads, add, retry, remove } = usePictureUploads(project, (picture, file) => {
    cursor.insert(picture.id, altOf(file.name));
    void client.invalidateQueries({ queryKey: PICTURES_KEY });
  });
  const takeFiles = (event: ClipboardEvent | DragEvent, data: DataTransfer) => {
    setOver(false);
    if (data.files.length === 0) return;
    event.preventDefault();
    add([...data.files]);
  };
  return (
    <Stack
      gap={6}
      className={classes.zone}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => takeFiles(event, event.dataTransfer)}
    >
      {isPreview ? (
        <section aria-label={t('labeling.guideline')}>
          <Suspense>
            <Guideline text={value || t('labeling.noGuideline')} />
          </Suspense>
        </section>
      ) : (
        <Textarea
          ref={cursor.area}
          label={t('labeling.guideline')}
          description={t('labeling.create.guidelineHint')}
          rows={6}
          resize="vertical"
          value={value}
          error={typeof error === 'string' ? error : undefined}
          onChange={(event) => onChange(event.currentTarget.value)}
          onSelect={cursor.note}
          // A copied table brings a picture of itself along: its text is meant.
          onPaste={(event) => {
            if (!event.clipboardData.types.includes('text/plain')) takeFiles(event, event.clipboardData);
          }}
        />
      )}
      <Group gap="xs">
        <SegmentedControl
          size="xs"
          aria-label={t('labeling.create.guidelineView')}
          data={[
            { value: 'write', label: t('labeling.create.write') },
            { value: 'preview', label: t('labeling.create.preview') },
          ]}
          value={isPreview ? 'preview' : 'write'}
          onChange={(next) => setPreview(next === 'preview')}
        />
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconPhotoPlus size={15} />}
          onClick={() => chooser.current?.click()}
        >
          {t('labeling.pictures.add')}
        </Button>
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<IconLibraryPhoto size={15} />}
          aria-expanded={hasList}
          onClick={() => setList(!hasList)}
        >
          {t('labeling.pictures.ofProject')}
        </Button>
        <input
          ref={chooser}
          type="file"
          accept={ACCEPTED}
          multiple
          hidden
          aria-label={t('labeling.pictures.add')}
          data-testid="guideline-pictures"
          onChange={(event) => {
            add([...(event.currentTarget.files ?? [])]);
            // The same file may be chosen again.
            event.currentTarget.value = '';
          }}
        />
      </Group>
      <UploadRows uploads={uploads} onRetry={retry} onRemove={remove} />
      <ShownPictures text={value} onChange={onChange} />
      <Collapse expanded={hasList}>
        {hasList && (
          <ProjectPictures
            shown={new Set(referencesOf(value).map(({ id }) => id))}
            onChoose={({ id }) => cursor.insert(id, '')}
          />
        )}
      </Collapse>
    </Stack>
  );
}

/** Puts pictures where the cursor is, or was while the text is not on the screen. */
function useCursor(value: string, onChange: (value: string) => void) {
  const area = useRef<HTMLTextAreaElement>(null);
  const place = useRef<[number, number] | null>(null);
  // A picture may arrive while somebody writes: it goes into the text of that moment.
  const latest = useRef({ value, onChange });
  latest.current = { value, onChange };
  return {
    area,
    note: () => {
      if (area.current) place.current = [area.current.selectionStart, area.current.selectionEnd];
    },
    insert: (id: string, alt: string) => {
      const text = latest.current.value;
      const [start, end] = place.current ?? [text.length, text.length];
      const next = withPicture(text, [Math.min(start, text.length), Math.min(end, text.length)], id, alt);
      // Two pictures may arrive before the page is drawn again.
      latest.current = { ...latest.current, value: next.text };
      place.current = [next.cursor, next.cursor];
      latest.current.onChange(next.text);
      requestAnimationFrame(() => area.current?.setSelectionRange(next.cursor, next.cursor));
    },
  };
}
