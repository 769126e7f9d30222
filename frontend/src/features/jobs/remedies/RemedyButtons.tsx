import { Button, Group, VisuallyHidden } from '@mantine/core';
import {
  IconArrowsShuffle,
  IconArrowsSplit2,
  IconCopy,
  IconFolder,
  IconFolders,
  IconPhotoOff,
  IconRefresh,
  IconReplace,
  IconTags,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Remedy } from '@/api/contract/jobs';
import { ButtonLink } from '@/shared/ui/links';
import { type Making, useRemedies } from './useRemedies';

interface RemedyButtonsProps {
  remedies: readonly Remedy[];
  /** The version that lacks something, such as `pets@v1`; empty where no dataset is at fault. */
  reference: string;
  branch: string;
  /** Objects are missing, not classes: people draw them. */
  objects?: boolean;
  /** The next version is there. */
  onVersion: (reference: string) => void;
  onChooseVersion?: () => void;
  /** The run that failed, to be cloned. */
  run?: string;
}

const ICONS = {
  label_by_folder: IconFolders,
  label: IconTags,
  relabel: IconTags,
  make_test_split: IconArrowsSplit2,
  draw_splits: IconArrowsShuffle,
  choose_version: IconReplace,
  open_dataset: IconFolder,
  show_unreadable: IconPhotoOff,
  clone: IconCopy,
  train_again: IconRefresh,
} satisfies Record<Remedy, unknown>;

/** Pictures that a worker marked when their version was made. */
const UNREADABLE = 'attributes.unreadable IS NOT NULL';

const MADE: readonly Remedy[] = ['label_by_folder', 'make_test_split', 'draw_splits'] satisfies Making[];
const isMade = (remedy: Remedy): remedy is Making => MADE.includes(remedy);

/** The repairs, there and then: the first one is the likeliest. */
export function RemedyButtons({
  remedies,
  reference,
  branch,
  objects = false,
  onVersion,
  onChooseVersion,
  run,
}: RemedyButtonsProps) {
  const { t } = useTranslation();
  const at = reference.lastIndexOf('@');
  const dataset = at < 0 ? reference : reference.slice(0, at);
  const ref = at < 0 ? undefined : reference.slice(at + 1);
  const { making, make } = useRemedies(dataset, branch, onVersion);
  const button = (remedy: Remedy, first: boolean) => {
    const Icon = ICONS[remedy];
    const common = {
      size: 'xs',
      variant: first ? 'light' : 'default',
      leftSection: <Icon size={14} aria-hidden />,
    } as const;
    const word = t(`preflight.remedy.${remedy}`);
    if (isMade(remedy))
      return (
        <Button
          {...common}
          key={remedy}
          loading={making === remedy}
          disabled={making !== null}
          onClick={() => void make(remedy)}
        >
          {word}
        </Button>
      );
    if (remedy === 'choose_version')
      return (
        onChooseVersion && (
          <Button {...common} key={remedy} onClick={onChooseVersion}>
            {word}
          </Button>
        )
      );
    if (remedy === 'clone')
      return (
        run && (
          <ButtonLink {...common} key={remedy} to="/runs/new" search={{ clone: run }}>
            {word}
          </ButtonLink>
        )
      );
    if (remedy === 'label' || remedy === 'relabel')
      return (
        <ButtonLink
          {...common}
          key={remedy}
          to="/labeling"
          search={{ create: reference, labelled: remedy === 'relabel' || undefined, objects: objects || undefined }}
        >
          {word}
        </ButtonLink>
      );
    if (remedy === 'train_again')
      return (
        <ButtonLink
          {...common}
          key={remedy}
          to="/runs/new"
          search={{ workflow: 'image-classification', dataset: reference }}
        >
          {word}
        </ButtonLink>
      );
    return (
      <ButtonLink
        {...common}
        key={remedy}
        to="/datasets/$name"
        params={{ name: dataset }}
        search={{ ref, where: remedy === 'show_unreadable' ? UNREADABLE : undefined }}
      >
        {word}
      </ButtonLink>
    );
  };
  return (
    <Group gap={6} mt={6}>
      {remedies.map((remedy, index) => button(remedy, index === 0))}
      <VisuallyHidden role="status">{making && t('preflight.making')}</VisuallyHidden>
    </Group>
  );
}
