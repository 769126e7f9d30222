import { Button, Group, Text } from '@mantine/core';
import { IconFile, IconFolderPlus, IconUpload } from '@tabler/icons-react';
import { type DragEvent, useCallback, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { notifyError } from '@/shared/ui/undo';
import { type Chosen, chosenFiles, droppedFiles } from './chosen';
import classes from './upload.module.css';

interface DropZoneProps {
  title: string;
  hint: string;
  onChosen: (chosen: Chosen) => void;
}

/** Takes folders and files: dropped, or chosen by two buttons. */
export function DropZone({ title, hint, onChosen }: DropZoneProps) {
  const { t } = useTranslation();
  const [over, setOver] = useState(false);
  const [found, setFound] = useState<number | null>(null);
  const folders = useRef<HTMLInputElement | null>(null);
  const files = useRef<HTMLInputElement | null>(null);
  const setFolders = useCallback((input: HTMLInputElement | null) => {
    input?.setAttribute('webkitdirectory', '');
    folders.current = input;
  }, []);
  const onDrop = async (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    setFound(0);
    try {
      onChosen(await droppedFiles(event.dataTransfer, setFound));
    } catch (error) {
      notifyError(error);
    } finally {
      setFound(null);
    }
  };
  const onInput = (input: HTMLInputElement) => {
    if (input.files?.length) onChosen(chosenFiles(input.files));
    // The same folder may be chosen again.
    input.value = '';
  };
  return (
    <section
      className={classes.zone}
      aria-label={title}
      data-over={over || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => void onDrop(event)}
    >
      <IconUpload size={32} stroke={1.4} aria-hidden />
      <Text fw={600}>{title}</Text>
      <Text size="sm" c="dimmed" ta="center" maw={520} aria-live="polite">
        {found === null ? hint : t('upload.readingFolder', { count: found })}
      </Text>
      <Group gap="xs" justify="center">
        <Button leftSection={<IconFolderPlus size={15} />} onClick={() => folders.current?.click()}>
          {t('upload.chooseFolder')}
        </Button>
        <Button variant="default" leftSection={<IconFile size={15} />} onClick={() => files.current?.click()}>
          {t('upload.chooseFiles')}
        </Button>
      </Group>
      <input
        ref={setFolders}
        type="file"
        multiple
        hidden
        aria-label={t('upload.chooseFolder')}
        data-testid="upload-folder"
        onChange={(event) => onInput(event.currentTarget)}
      />
      <input
        ref={files}
        type="file"
        multiple
        hidden
        aria-label={t('upload.chooseFiles')}
        data-testid="upload-files"
        onChange={(event) => onInput(event.currentTarget)}
      />
    </section>
  );
}
