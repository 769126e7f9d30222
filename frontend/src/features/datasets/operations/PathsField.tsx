import { TagsInput, type TagsInputProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';

// As many as one operation takes.
const MOST = 1000;

/** Files and folders by their paths; those that were selected are there already. */
export function PathsField(props: TagsInputProps) {
  const { t } = useTranslation();
  return (
    <TagsInput
      label={t('versioning.paths')}
      description={t('versioning.pathsHint')}
      placeholder="cats/"
      // A path may hold a comma.
      splitChars={['\n']}
      acceptValueOnBlur
      maxTags={MOST}
      // It offers nothing; what is open would take the Escape that closes the dialog.
      dropdownOpened={false}
      styles={{ pillsList: { maxHeight: 140, overflowY: 'auto' } }}
      {...props}
    />
  );
}
