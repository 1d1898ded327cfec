E<> a
﻿
