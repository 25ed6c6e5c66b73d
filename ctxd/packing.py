"""Stored texts: zlib with a dictionary of what code of many projects has in common. Pure; any thread or process.

Most files are small, and half of a small file is what its neighbours say, too: a licence, imports, the same few words.
The dictionary is part of the format; parse.fingerprint covers it, so what was packed with another one is never read.
"""

from __future__ import annotations

import zlib

# On the Django sources level 6 takes 15 ms per MB and leaves 0.253 of it, level 1 takes 7 and leaves 0.293; the text is
# kept twice, in the index and in the cache.
_LEVEL = 6

# Licence notices as their licences ask for them, then lines and words as they stand in most code; what is most common
# comes last, where it costs least to refer to.
_COMMON = (
    b"""\
Redistribution and use in source and binary forms, with or without modification, are permitted provided that the
following conditions are met:
THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES
 * This program is free software; you can redistribute it and/or modify
 * it under the terms of the GNU General Public License as published by
 * the Free Software Foundation; either version 2 of the License, or
 * (at your option) any later version.
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction
SPDX-License-Identifier: Apache-2.0 MIT
/*
 * Copyright (c) 2024 the authors. All rights reserved.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package com.example.

"""
    b"#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n#include <vector>\n#ifndef #define "
    b"#endif /* static "
    b"inline unsigned int char *const void *struct { NULL); sizeof(std::string std::vector< template <typename T>\n"
    b"use strict;\nnamespace App\\;\n\nuse Illuminate\\;\nuse Symfony\\Component\\;\n\nfinal class extends "
    b"protected function public function __construct(private readonly array $this-> => [\n        ]);\n    }\n"
    b'# frozen_string_literal: true\n\nrequire "require_relative "module \n  class < ApplicationRecord\n    def \n'
    b'      end\n    end\n  end\nend\n\n  test "should do\n    assert_equal attr_reader :nil? unless elsif \n'
    b'package main\n\nimport (\n\t"context"\n\t"errors"\n\t"fmt"\n\t"strings"\n\t"testing"\n\t"time"\n)\n\n'
    b"func (s *) (string, error) {\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn err\n}\n\ntype struct {\n"
    b"use std::collections::HashMap;\nuse crate::\nuse serde::{Deserialize, Serialize};\n\n#[derive(Debug, Clone)]\n"
    b"pub struct \nimpl for \n    pub fn (&self) -> Result<(), Error> {\n        let mut match self { "
    b"Some(None => Ok(())\n"
    b"#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn assert_eq!(assert!(.unwrap()\n"
    b"using System;\nusing System.Collections.Generic;\nusing System.Linq;\n\nnamespace \n    /// <summary>\n"
    b"'use strict';\n\nimport React from 'react';\nimport { describe, expect, it } from 'vitest'\nexport "
    b"default function\n"
    b"export const = async () => {\n  const { } = await require(');\n  });\n});\nmodule.exports = {\ninterface "
    b"undefined typeof === !== this.prototype expect().toEqual(toBe(describe('it('should return \n"
    b"from __future__ import annotations\n\nimport os\nimport sys\nimport re\nfrom typing import Any, Optional\nfrom "
    b"collections.abc import \n\n\nclass Test(unittest.TestCase):\n    def __init__(self, *args, **kwargs) -> None:\n"
    b"        super().__init__(\n        if not isinstance(self.assertEqual(with pytest.raises(ValueError):\n"
    b'            raise NotImplementedError\n        return None\n    @property\n    """True False is not None '
    b"self.assertTrue(for in range(elif except Exception as else:\n"
    b"import java.io.IOException;\nimport java.util.ArrayList;\nimport java.util.Arrays;\nimport "
    b"java.util.Collections;\n"
    b"import java.util.HashMap;\nimport java.util.Map;\nimport java.util.Set;\nimport java.util.function.Function;\n"
    b"import java.util.function.Supplier;\nimport java.util.stream.Collectors;\nimport java.util.List;\n\n"
    b"import org.junit.jupiter.api.Test;\nimport org.slf4j.LoggerFactory;\n"
    b"import org.springframework.boot.context.annotation.Configuration;\nimport org.springframework.util.Assert;\n\n"
    b"import static org.assertj.core.api.Assertions.assertThat;\nimport static org.mockito.Mockito.mock;\n\n"
    b"/**\n * Tests for {@link }.\n *\n * @author \n * @since 1.0.0\n * @see \n */\n"
    b"\t * @param the name of the\n\t * @return the value or {@code null}\n\t * @throws Exception if \n\t */\n"
    b"\tprivate final Map<String, Object> \n\tprotected static final class implements extends abstract "
    b"interface enum {\n"
    b'\t@SuppressWarnings("unchecked")\n\t@Override\n\tpublic boolean equals(Object other) {\n'
    b'\t\tif (this. == null) {\n\t\t\tthrow new IllegalArgumentException("must not be null");\n\t\t}\n'
    b'\t\tthis. = new (\n\t\treturn this.\n\t}\n\n\t@Test\n\tvoid () {\n\t\tassertThat(.isEqualTo("\n'
    b"value default string integer object function array length number type name index result error message options "
    b"config request response context version description required parameters the of and to in a for is that "
    b"with be this are from it should when if not "
    b"}\n\nconst let import public return "
)


def pack(text: bytes) -> bytes:
    """Return a text as it is stored."""
    packer = zlib.compressobj(_LEVEL, zdict=_COMMON)
    return packer.compress(text) + packer.flush()


def unpack(body: bytes) -> bytes:
    """Return the text that `body` was packed from. Raises zlib.error for a damaged one."""
    unpacker = zlib.decompressobj(zdict=_COMMON)
    text = unpacker.decompress(body)
    if not unpacker.eof:
        raise zlib.error("the end of a stored text is missing")
    return text


def unpack_beginning(body: bytes, until: int) -> tuple[bytes, bool]:
    """Return the first `until` bytes of a text, and whether that is all of it."""
    unpacker = zlib.decompressobj(zdict=_COMMON)
    return unpacker.decompress(body, until), unpacker.eof
