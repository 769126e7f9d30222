import { ThemeIcon } from '@mantine/core';
import {
  type Icon,
  IconBox,
  IconChartLine,
  IconCode,
  IconDatabase,
  IconFile,
  IconPackage,
  IconPlayerPlay,
  IconTags,
} from '@tabler/icons-react';
import type { LineageKind } from '@/api/contract/models';

const LOOKS: Record<LineageKind, [color: string, icon: Icon]> = {
  dataset_version: ['teal', IconDatabase],
  label_task: ['cyan', IconTags],
  run: ['atom', IconPlayerPlay],
  code: ['gray', IconCode],
  runtime: ['gray', IconPackage],
  artifact: ['gray', IconFile],
  model_version: ['grape', IconBox],
  evaluation: ['orange', IconChartLine],
};

export function KindIcon({ kind }: { kind: LineageKind }) {
  const [color, Glyph] = LOOKS[kind] ?? LOOKS.artifact;
  return (
    <ThemeIcon variant="light" color={color} size={32} aria-hidden>
      <Glyph size={17} />
    </ThemeIcon>
  );
}
