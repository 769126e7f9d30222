import { Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CommandLine } from '@/shared/ui/CommandLine';

/** Kinds of sources that people have, and the argument of the command line for each. */
const SOURCES = {
  folder: './{name}',
  zip: '{name}.zip',
  tar: '{name}.tar.zst',
  coco: 'annotations/instances_train.json',
  yolo: './{name}',
  voc: './{name}',
  imagefolder: './{name}',
  csv: '{name}.csv',
  huggingface: './{name}',
  parquet: './{name}',
} as const;

type Format = keyof typeof SOURCES;
const FORMATS = Object.keys(SOURCES) as Format[];

function importCommand(format: Format, name: string): string {
  const source = SOURCES[format].replace('{name}', name);
  if (format === 'folder') return `atom data push ${source} ${name}`;
  const archive = format === 'zip' || format === 'tar';
  return `atom data import ${source} ${name}${archive ? '' : ` --format ${format}`}`;
}

/** The command that brings data of one format in; with `--dry-run` it only looks. */
export function ImportCommands({ name }: { name: string }) {
  const { t } = useTranslation();
  const [format, setFormat] = useState<Format>('folder');
  return (
    <Stack gap="xs" align="stretch" ta="left">
      <Select
        size="xs"
        label={t('datasets.importFrom')}
        data={FORMATS.map((value) => ({ value, label: t(`datasets.importFormat.${value}`) }))}
        value={format}
        onChange={(value) => setFormat((value as Format | null) ?? 'folder')}
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
      />
      <CommandLine command={importCommand(format, name)} />
      {format !== 'folder' && (
        <>
          <Text size="xs" c="dimmed">
            {t('datasets.importDryRun')}
          </Text>
          <Text size="xs" c="dimmed">
            {t('datasets.importUpload')}
          </Text>
        </>
      )}
    </Stack>
  );
}
