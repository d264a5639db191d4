pleat_fuzz(pmi DEPS pleat-pmi-base READER pmi/server.c)
