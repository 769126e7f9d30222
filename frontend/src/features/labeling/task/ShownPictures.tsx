import { CloseButton, Group, Stack, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useProject } from '@/shared/domain/project';
import { Thumb } from '@/shared/grid/Thumb';
import { pictureAddress, referencesOf, withAlt, withoutPicture } from '../objects/guidelinePictures';
import classes from './pictures.module.css';

interface ShownPicturesProps {
  text: string;
  onChange: (text: string) => void;
}

/** The pictures that a guideline shows, each with its description. */
export function ShownPictures({ text, onChange }: ShownPicturesProps) {
  const { t } = useTranslation();
  const project = useProject();
  const references = referencesOf(text);
  if (references.length === 0)
    return (
      <Text size="xs" c="dimmed">
        {t('labeling.pictures.none')}
      </Text>
    );
  return (
    <Stack gap={6} component="ul" className={classes.list} aria-label={t('labeling.pictures.shown')}>
      {references.map((reference, index) => (
        // A picture may be there twice: its place tells which one it is.
        // biome-ignore lint/suspicious/noArrayIndexKey: the place in the text is what stays while its description changes
        <Group key={`${reference.id}/${index}`} component="li" gap="xs" wrap="nowrap">
          <span className={classes.thumb}>
            <Thumb src={pictureAddress(project, reference.id)} />
          </span>
          <TextInput
            flex={1}
            size="xs"
            aria-label={t('labeling.pictures.alt', { number: index + 1 })}
            placeholder={t('labeling.pictures.altHint')}
            value={reference.alt}
            onChange={(event) => onChange(withAlt(text, reference, event.currentTarget.value))}
          />
          <CloseButton
            size="sm"
            aria-label={t('labeling.pictures.takeOut', { number: index + 1 })}
            onClick={() => onChange(withoutPicture(text, reference))}
          />
        </Group>
      ))}
    </Stack>
  );
}
